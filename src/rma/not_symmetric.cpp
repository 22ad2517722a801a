// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/not_symmetric.h"

#include "src/base/address_owner.h"
#include "src/base/error.h"

namespace railshmem {
namespace {

constexpr const char* kRemedy = "allocate with shmem_malloc, or use a global or static object of the executable";
constexpr const char* kOnlyRemedy = "allocate with shmem_malloc";

std::string range_text(const SegmentView& view) {
  return text("[%p, %p)", reinterpret_cast<void*>(view.base), reinterpret_cast<void*>(view.base + view.nbytes));
}

std::string owner_text(const AddressOwner& owner) {
  switch (owner.kind) {
    case Owner::global:
      return "it is a global object of the executable";
    case Owner::constant:
      return "it is constant data of the executable";
    case Owner::library:
      return text("it is an object of the shared library %s, and only the executable's are symmetric",
                  owner.library.c_str());
    case Owner::thread_local_:
      return "it is a thread-local object";
    case Owner::stack:
      return "it is on the stack";
    default:
      return "it is neither in the symmetric heap nor a global object of the executable";
  }
}

}  // namespace

std::string why_not_symmetric(const PeState& state, const void* address) {
  const std::string no_globals = state.why_no_globals ? state.why_no_globals : "";
  const AddressOwner owner = find_owner(address);
  std::string why = "is not symmetric: " + owner_text(owner);
  if (!no_globals.empty() && owner.kind == Owner::global)
    return why + ", and these are not symmetric in this job: " + no_globals + ", or " + kOnlyRemedy;
  why += text("; %s. the heap is %s", no_globals.empty() ? kRemedy : kOnlyRemedy,
              range_text(state.segment[static_cast<int>(SegmentId::heap)]).c_str());
  if (const SegmentView& device = state.segment[static_cast<int>(SegmentId::device)]; device.nbytes > 0)
    why += ", the device heap is " + range_text(device);
  if (!no_globals.empty()) return why + ", and no global object is symmetric in this job: " + no_globals;
  return why + ", the executable's global objects are " + range_text(state.segment[static_cast<int>(SegmentId::data)]);
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/peer_address.h"

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/pe_list.h"
#include "src/base/quantity.h"
#include "src/rma/not_symmetric.h"

namespace railshmem {

void die_bad_pe(const char* function, int pe, int npes) noexcept {
  die("%s: PE %d does not exist; this job has %s", function, pe, all_pes(npes).c_str());
}

void die_null(const char* function, const char* argument, size_t nbytes, int pe) noexcept {
  die("%s: %s is NULL but %s to PE %d were asked for; pass a valid address or 0 elements", function, argument,
      counted(nbytes, "byte").c_str(), pe);
}

void die_bad_address(const PeState& state, const char* function, const void* address, size_t nbytes, int pe) noexcept {
  uintptr_t offset = 0;
  if (!address) die_null(function, "the symmetric address", nbytes, pe);
  if (find_segment(state, address, 1, &offset))
    die("%s: %s at %p (for PE %d) would run past the end of symmetric memory; check the element count", function,
        counted(nbytes, "byte").c_str(), address, pe);
  die("%s: address %p (for PE %d) %s", function, address, pe, why_not_symmetric(state, address).c_str());
}

std::byte* own_address(const PeState& state, const char* function, const void* address, size_t nbytes,
                       int pe) noexcept {
  uintptr_t offset = 0;
  if (pe != state.me || !address || find_segment(state, address, 1, &offset))
    die_bad_address(state, function, address, nbytes, pe);
  return static_cast<std::byte*>(const_cast<void*>(address));
}

void die_unreachable(const PeState& state, const char* function, const void* address, int pe) noexcept {
  uintptr_t offset = 0;
  const bool data = find_segment(state, address, 1, &offset) == &state.segment[static_cast<int>(SegmentId::data)];
  die("%s: %s of PE %d cannot be reached: it is not mapped here and no network transport is in use; %s", function,
      data ? "a global object" : "the heap", pe,
      data ? "set SHMEM_DATA_SEGMENT=shared, or add ofi to SHMEM_TRANSPORT" : "add ofi to SHMEM_TRANSPORT");
}

}  // namespace railshmem

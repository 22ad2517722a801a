// SPDX-License-Identifier: BSD-3-Clause
#include "src/check/arguments.h"

#include <unistd.h>

#include "shmem/types.h"
#include "src/base/log.h"
#include "src/base/process.h"
#include "src/check/call_site.h"
#include "src/rma/not_symmetric.h"
#include "src/rma/peer_address.h"

namespace railshmem::check {
namespace {

bool overlap(const Buffer& one, const Buffer& other) noexcept {
  const auto a = reinterpret_cast<uintptr_t>(one.address);
  const auto b = reinterpret_cast<uintptr_t>(other.address);
  if (one.nbytes == 0 || other.nbytes == 0) return false;
  return a < b ? b - a < one.nbytes : a - b < other.nbytes;
}

[[noreturn]] void die_overlap(const char* function, const Buffer& one, const Buffer& other) noexcept {
  die("%s: %s [%p, +%zu) and %s [%p, +%zu) overlap, which the standard forbids; use buffers of their own; called at %s",
      function, one.argument, one.address, one.nbytes, other.argument, other.address, other.nbytes,
      find_call_site().data());
}

/// Where the copy of `pe` is mapped here, or null.
const void* mapped_address(const PeState& state, const void* symmetric, size_t nbytes, int pe) noexcept {
  uintptr_t offset = 0;
  const SegmentView* view = find_segment(state, symmetric, nbytes, &offset);
  if (!view) return nullptr;
  const int slot = state.slot(pe);
  if (static_cast<unsigned>(slot - view->first_slot) >= static_cast<unsigned>(view->slots)) return nullptr;
  return reinterpret_cast<const void*>(view->node_base + static_cast<size_t>(slot) * view->stride + offset);
}

/// Once: a loop that does so would fill the terminal.
void warn_of_own_memory(const char* function, const void* address, int pe) noexcept {
  if (g_process.warned.own_memory.exchange(true, std::memory_order_relaxed)) return;
  log_warn(
      "%s: address %p is not symmetric; PE %d is the caller, so here the call is a plain access to its memory, but "
      "other libraries may end the job; allocate with shmem_malloc; called at %s",
      function, address, pe, find_call_site().data());
}

/// What is asked of `symmetric`, which the call names as memory of `pe`.
void check_target(const PeState& state, const char* function, const void* symmetric, size_t nbytes, int pe) noexcept {
  uintptr_t offset = 0;
  const Buffer target{"the remote address", symmetric, nbytes};
  if (pe != state.me || !symmetric || find_segment(state, symmetric, 1, &offset))
    return must_be_symmetric(state, function, target);
  must_not_cross(state, function, target);
  warn_of_own_memory(function, symmetric, pe);
}

}  // namespace

void must_be_symmetric(const PeState& state, const char* function, const Buffer& buffer) noexcept {
  uintptr_t offset = 0;
  if (buffer.nbytes == 0 || find_segment(state, buffer.address, buffer.nbytes, &offset)) return;
  const CallSite site = find_call_site();
  if (find_segment(state, buffer.address, 1, &offset))
    die("%s: %s [%p, +%zu) reaches past the end of symmetric memory; check the number of elements; called at %s",
        function, buffer.argument, buffer.address, buffer.nbytes, site.data());
  die("%s: %s %p %s; called at %s", function, buffer.argument, buffer.address,
      why_not_symmetric(state, buffer.address).c_str(), site.data());
}

void must_not_cross(const PeState& state, const char* function, const Buffer& buffer) noexcept {
  const auto from = reinterpret_cast<uintptr_t>(buffer.address);
  for (const SegmentView& view : state.segment) {
    const bool begins_inside = from - view.base < view.nbytes;
    const bool crosses = begins_inside ? buffer.nbytes > view.base + view.nbytes - from
                                       : from < view.base && buffer.nbytes > view.base - from;
    if (view.nbytes > 0 && crosses)
      die("%s: %s [%p, +%zu) crosses the border of symmetric memory [%p, %p); check the number of elements; called at "
          "%s",
          function, buffer.argument, buffer.address, buffer.nbytes, reinterpret_cast<void*>(view.base),
          reinterpret_cast<void*>(view.base + view.nbytes), find_call_site().data());
  }
}

void must_not_overlap(const char* function, const Buffer& one, const Buffer& other) noexcept {
  if (overlap(one, other)) die_overlap(function, one, other);
}

void check_operands(const PeState& state, const char* function, const Buffer& dest, const Buffer& source,
                    InPlace in_place) noexcept {
  must_be_symmetric(state, function, dest);
  must_be_symmetric(state, function, source);
  if (in_place == InPlace::forbidden || dest.address != source.address) must_not_overlap(function, dest, source);
}

size_t strided_bytes(size_t nelems, ptrdiff_t stride, size_t element) noexcept {
  size_t elements = 0;
  size_t nbytes = 0;
  if (nelems == 0 || stride < 1) return 0;
  if (__builtin_mul_overflow(nelems - 1, static_cast<size_t>(stride), &elements)) return 0;
  return __builtin_mul_overflow(elements + 1, element, &nbytes) ? 0 : nbytes;
}

void check_transfer(const PeState& state, const char* function, const void* symmetric, const void* local, size_t nbytes,
                    int pe) noexcept {
  if (nbytes == 0 || pe < 0) return;  // the call itself refuses a PE that does not exist
  check_target(state, function, symmetric, nbytes, pe);
  if (!local) return;
  const Buffer here{"the local buffer", local, nbytes};
  must_not_cross(state, function, here);
  if (const void* there = mapped_address(state, symmetric, nbytes, pe))
    must_not_overlap(function, here, {"the other PE's", there, nbytes});
}

void check_context(const char* function, const Context& context) noexcept {
  if ((context.options & SHMEM_CTX_PRIVATE) == 0 || context.thread == gettid()) return;
  die("%s: thread %d uses a SHMEM_CTX_PRIVATE context that thread %d made; make one in each thread, or do without the "
      "option; called at %s",
      function, gettid(), context.thread, find_call_site().data());
}

}  // namespace railshmem::check

// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/atomic.h"

#include "shmemx.h"
#include "src/base/log.h"

namespace railshmem {

void die_misaligned(const char* function, const void* address, size_t width, int pe) noexcept {
  die("%s: address %p (for PE %d) is not a multiple of %zu, so the operation could not be atomic; align the object",
      function, address, pe, width);
}

void must_be_allowed(const PeState& state, const Context& context, const char* function, const void* symmetric,
                     int pe) noexcept {
  if ((context.options & SHMEMX_CTX_NODE_ONLY) == 0 && !state.device->updates_directly(symmetric)) return;
  die("%s: PE %d is on another node and may only set the word at %p: %s", function, pe, symmetric, kPromises);
}

uint64_t amo_on_device(PeState& state, Context& context, std::byte* at, const void* symmetric, int pe,
                       const NetAmo& amo) noexcept {
  uintptr_t offset = 0;
  if (!state.network || (context.options & SHMEMX_CTX_NODE_ONLY) != 0 || state.device->updates_directly(symmetric) ||
      !find_segment(state, symmetric, amo.width, &offset))
    return state.device->amo(at, amo.width, amo.op, amo.operand, amo.compare);
  // Remote PEs may update the word too. So its owner's proxy alone executes all updates, also this PE's.
  return amo_by_network(state, context, {pe, SegmentId::device, offset}, amo);
}

}  // namespace railshmem

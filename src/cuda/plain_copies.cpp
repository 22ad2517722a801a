// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/plain_copies.h"

#include "src/cuda/context_guard.h"
#include "src/cuda/pointer_info.h"

namespace railshmem::cuda {

bool PlainCopies::is_plain(const void* address) const noexcept {
  if (address_of(address) - address_of(heaps_.data()) < heaps_.size()) return false;
  return is_device_memory(gpu_.driver(), address);
}

bool PlainCopies::are_for(const void* to, const void* from) const noexcept {
  return is_adopted(gpu_) && (is_plain(to) || is_plain(from));
}

/// A reduction of one operand, of the largest elements that the places allow.
Result PlainCopies::give(void* to, const void* from, size_t nbytes, Stream stream) const noexcept {
  const bool in_words = ((address_of(to) | address_of(from) | nbytes) & 7) == 0;
  DeviceReduction copy;
  copy.op = ReduceOp::bit_or;
  copy.kind = in_words ? TypeKind::u64 : TypeKind::u8;
  copy.scaling = Scaling::none;
  copy.factor = 1;
  copy.noperands = copy.nresults = 1;
  copy.nelems = in_words ? nbytes / 8 : nbytes;
  copy.operands[0] = from;
  copy.results[0] = to;
  return kernel_.give(copy, stream);
}

}  // namespace railshmem::cuda

// SPDX-License-Identifier: BSD-3-Clause
// What only the GPU can do with a word of its memory: atomics that are atomic to kernels.
#include "include/shmem/device/atomics.h"

/// One thread. `old` receives the old value; it is pinned host memory.
extern "C" __global__ void railshmem_word_amo(void* word, unsigned width, unsigned op, unsigned long long operand,
                                              unsigned long long compare, unsigned long long* old) {
  using railshmem::AmoOp;
  using railshmem::device::apply_amo;
  const AmoOp what = static_cast<AmoOp>(op);
  if (width == 4)
    *old = apply_amo<uint32_t>(static_cast<uint32_t*>(word), what, static_cast<uint32_t>(operand),
                               static_cast<uint32_t>(compare));
  else
    *old = apply_amo<uint64_t>(static_cast<uint64_t*>(word), what, operand, compare);
}

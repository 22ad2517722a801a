// SPDX-License-Identifier: BSD-3-Clause
// Clocks and single words as the hardware has them: what floors are made of.
#pragma once

#include <cstdint>

namespace railshmem::perf::gpu {

/// Common to all SMs, but coarse on some GPUs.
__device__ inline uint64_t now_ns() {
  uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}
/// Exact, of this SM, at whatever frequency it has.
__device__ inline uint64_t cycles() {
  uint64_t t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

// relaxed: a floor is the word's way alone; nothing else is ordered by it.
__device__ inline uint64_t load_word(const uint64_t* at) {
  uint64_t value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
  return value;
}
__device__ inline void store_word(uint64_t* at, uint64_t value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

/// Whether the word reaches the value by the deadline.
__device__ inline bool await_word(const uint64_t* at, uint64_t at_least, uint64_t deadline_ns) {
  for (uint32_t turn = 1; load_word(at) < at_least; ++turn)
    if (turn % 256 == 0 && now_ns() > deadline_ns) return false;
  return true;
}

}  // namespace railshmem::perf::gpu

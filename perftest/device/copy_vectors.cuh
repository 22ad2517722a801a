// SPDX-License-Identifier: BSD-3-Clause
// The copy of the floors: vectors of 16 bytes, several loads of a thread in flight before its first store.
#pragma once

#include <cstdint>

namespace railshmem::perf::gpu {

constexpr int kInFlight = 8;

/// Copies by `step` threads, of which the caller is number `at`.
__device__ inline void copy_vectors(uint4* to, const uint4* from, uint64_t n, uint64_t at, uint64_t step) {
#pragma unroll 1
  for (; at + (kInFlight - 1) * step < n; at += kInFlight * step) {
    uint4 held[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) held[i] = from[at + i * step];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) to[at + i * step] = held[i];
  }
#pragma unroll 1
  for (; at < n; at += step) to[at] = from[at];
}

}  // namespace railshmem::perf::gpu

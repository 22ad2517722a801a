// SPDX-License-Identifier: BSD-3-Clause
// The threads of a scope: who they are, how they meet, and which part of a message is theirs. Blocks are
// one-dimensional.
#pragma once

#include <cstdint>

#include "perftest/device/scope_kind.h"
#include "perftest/device/words.cuh"

namespace railshmem::perf::gpu {

template <Scope kScope>
__device__ inline bool leads() {
  if constexpr (kScope == Scope::block) return threadIdx.x == 0;
  if constexpr (kScope == Scope::warp) return threadIdx.x % kWarpThreads == 0;
  return true;
}

/// Meets; whether all threads of the scope say yes.
template <Scope kScope>
__device__ inline bool all(bool yes) {
  if constexpr (kScope == Scope::block) return __syncthreads_and(yes) != 0;
  if constexpr (kScope == Scope::warp) return __all_sync(~0u, yes) != 0;
  return yes;
}

template <Scope kScope>
__device__ inline void sync() {
  if constexpr (kScope == Scope::block) __syncthreads();
  if constexpr (kScope == Scope::warp) __syncwarp();
}

/// Number of this thread's scope in the grid, and how many there are.
template <Scope kScope>
__device__ inline uint32_t scope_index() {
  if constexpr (kScope == Scope::block) return blockIdx.x;
  if constexpr (kScope == Scope::warp) return (blockIdx.x * blockDim.x + threadIdx.x) / kWarpThreads;
  return blockIdx.x * blockDim.x + threadIdx.x;
}
template <Scope kScope>
__device__ inline uint32_t scope_count() {
  if constexpr (kScope == Scope::block) return gridDim.x;
  if constexpr (kScope == Scope::warp) return gridDim.x * blockDim.x / kWarpThreads;
  return gridDim.x * blockDim.x;
}

struct Slice {
  uint64_t offset;
  uint64_t nbytes;
};

/// Part `index` of `count` of a message: whole lines where there are enough for all, else vectors; the last part takes
/// what is left over.
__host__ __device__ inline Slice slice_of(uint64_t nbytes, uint32_t index, uint32_t count) {
  const uint64_t unit = nbytes >= uint64_t{128} * count ? 128 : 16;
  const uint64_t units = nbytes / unit;
  const uint64_t begin = units * index / count * unit;
  const uint64_t end = index + 1 == count ? nbytes : units * (index + 1) / count * unit;
  return {begin, end - begin};
}

/// All blocks of the grid have come here `turn + 1` times; `arrived` starts at 0 and all blocks run at once. Whether
/// they came by the deadline. What a block wrote before is visible to the others after it.
__device__ inline bool meet_grid(uint32_t* arrived, uint32_t turn, uint64_t deadline_ns) {
  __syncthreads();
  bool well = true;
  if (threadIdx.x == 0) {
    const uint32_t expected = (turn + 1) * gridDim.x;
    __threadfence();
    atomicAdd(arrived, 1);
    for (uint32_t polls = 1; static_cast<int32_t>(*static_cast<volatile uint32_t*>(arrived) - expected) < 0; ++polls) {
      if (polls % 256 == 0 && now_ns() > deadline_ns) {
        well = false;
        break;
      }
    }
    // Also empties this SM's cache: the next message is read anew, as the first was.
    __threadfence();
  }
  return __syncthreads_and(well) != 0;
}

}  // namespace railshmem::perf::gpu

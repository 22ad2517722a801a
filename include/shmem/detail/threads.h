// SPDX-License-Identifier: BSD-3-Clause
// Who the calling thread is among the threads of its kernel. Host code is a kernel of one thread, unless tests emulate
// kernels by host threads (RAILSHMEM_EMULATION, tests/gpu/emulated/emulation.h).
#ifndef SHMEM_DETAIL_THREADS_H
#define SHMEM_DETAIL_THREADS_H

#include <stdint.h>

#include "shmem/detail/portable.h"

namespace railshmem {

#if defined(RAILSHMEM_EMULATION)
namespace emulation {
struct Dim {
  constexpr Dim(uint32_t nx = 1, uint32_t ny = 1, uint32_t nz = 1) : x(nx), y(ny), z(nz) {}
  uint32_t x, y, z;
};
void sync_block();
void sync_part(uint32_t part, uint32_t size);
void sync_warp();
uint32_t active_lanes();
uint32_t equal_lanes(uint32_t lanes, uint64_t word);
uint64_t from_lane(uint32_t lanes, uint64_t word, uint32_t lane);
uint32_t from_lane_of_warp(uint32_t word, uint32_t lane);
void sync_lanes(uint32_t lanes);
uint32_t from_first_of_warp(uint32_t word);
uint32_t from_first_of_block(uint32_t word);
uint32_t lanes_that(bool raise);
}  // namespace emulation
#endif

namespace threads {

inline constexpr uint32_t kWarp = 32;

#if defined(RAILSHMEM_EMULATION)
inline thread_local emulation::Dim threadIdx, blockIdx, blockDim, gridDim;  // what CUDA calls so
#endif

RAILSHMEM_HD inline uint32_t rank_in_block() {
#if defined(__CUDA_ARCH__) || defined(RAILSHMEM_EMULATION)
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
#else
  return 0;
#endif
}

/// rank_in_block(), read anew at each call: where registers are short the compiler keeps a rank known before a loop in
/// memory, and loading that takes longer than reading it anew.
RAILSHMEM_HD inline uint32_t rank_in_block_anew() {
#if defined(__CUDA_ARCH__)
  uint32_t rank;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(rank));
  if (blockDim.y * blockDim.z != 1) rank += blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return rank;
#else
  return rank_in_block();
#endif
}

RAILSHMEM_HD inline uint32_t block_size() {
#if defined(__CUDA_ARCH__) || defined(RAILSHMEM_EMULATION)
  return blockDim.x * blockDim.y * blockDim.z;
#else
  return 1;
#endif
}

RAILSHMEM_HD inline uint32_t block_in_grid() {
#if defined(__CUDA_ARCH__) || defined(RAILSHMEM_EMULATION)
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
#else
  return 0;
#endif
}

#if defined(__CUDA_ARCH__) || defined(RAILSHMEM_EMULATION)
// Of kernels that are launched in one dimension.
RAILSHMEM_HD inline uint32_t thread_in_row() {
  return threadIdx.x;
}
RAILSHMEM_HD inline uint32_t row_size() {
  return blockDim.x;
}
RAILSHMEM_HD inline uint32_t block_in_row() {
  return blockIdx.x;
}
RAILSHMEM_HD inline uint32_t blocks_in_row() {
  return gridDim.x;
}
#else
RAILSHMEM_HD inline uint32_t thread_in_row() {
  return 0;
}
RAILSHMEM_HD inline uint32_t row_size() {
  return 1;
}
RAILSHMEM_HD inline uint32_t block_in_row() {
  return 0;
}
RAILSHMEM_HD inline uint32_t blocks_in_row() {
  return 1;
}
#endif

/// The multiprocessor that runs the calling thread just now; 0 on the host.
RAILSHMEM_HD inline uint32_t multiprocessor() {
#if defined(__CUDA_ARCH__)
  uint32_t number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
#else
  return 0;
#endif
}

RAILSHMEM_HD inline uint32_t lane() {
#if defined(__CUDA_ARCH__)
  uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
#else
  return rank_in_block() % kWarp;
#endif
}

/// Threads of the calling thread's warp: the last warp of a block may be smaller.
RAILSHMEM_HD inline uint32_t warp_size() {
  const uint32_t first = rank_in_block() / kWarp * kWarp;
  const uint32_t behind = block_size() - first;
  return behind < kWarp ? behind : kWarp;
}

/// All threads of the block meet. What a thread wrote before the meeting is visible to the others after it.
RAILSHMEM_HD inline void sync_block() {
#if defined(__CUDA_ARCH__)
  __syncthreads();
#elif defined(RAILSHMEM_EMULATION)
  emulation::sync_block();
#endif
}

/// All `size` threads of one of the block's two parts, 0 or 1, meet, as in sync_block(). Parts end between warps.
RAILSHMEM_HD inline void sync_part(uint32_t part, uint32_t size) {
#if defined(__CUDA_ARCH__)
  asm volatile("bar.sync %0, %1;" ::"r"(part + 1), "r"(size) : "memory");
#elif defined(RAILSHMEM_EMULATION)
  emulation::sync_part(part, size);
#else
  (void)part;
  (void)size;
#endif
}

/// All threads of the warp meet. What a thread wrote before the meeting is visible to the others after it.
RAILSHMEM_HD inline void sync_warp() {
#if defined(__CUDA_ARCH__)
  const uint32_t size = warp_size();
  if (size == kWarp) {
    __syncwarp();  // a mask that the compiler knows: the lanes go on in step
  } else {
    __syncwarp((1u << size) - 1);
  }
#elif defined(RAILSHMEM_EMULATION)
  emulation::sync_warp();
#endif
}

#if defined(__CUDA_ARCH__) || defined(RAILSHMEM_EMULATION)
// Lanes of a warp that call together: a bit for each. All lanes of `lanes` make these calls.

/// Those that run this call together with the calling thread; any of them may be missing.
RAILSHMEM_HD inline uint32_t active_lanes() {
#if defined(__CUDA_ARCH__)
  return __activemask();
#else
  return emulation::active_lanes();
#endif
}

/// Those that pass an equal word.
RAILSHMEM_HD inline uint32_t equal_lanes(uint32_t lanes, uint64_t word) {
#if defined(__CUDA_ARCH__)
  return __match_any_sync(lanes, static_cast<unsigned long long>(word));
#else
  return emulation::equal_lanes(lanes, word);
#endif
}

/// What `lane` passes.
RAILSHMEM_HD inline uint64_t from_lane(uint32_t lanes, uint64_t word, uint32_t lane) {
#if defined(__CUDA_ARCH__)
  return __shfl_sync(lanes, static_cast<unsigned long long>(word), static_cast<int>(lane));
#else
  return emulation::from_lane(lanes, word, lane);
#endif
}

/// What `lane` passes, or any lane where the warp has none of that number. All lanes of a whole warp call.
RAILSHMEM_HD inline uint32_t from_lane_of_warp(uint32_t word, uint32_t lane) {
#if defined(__CUDA_ARCH__)
  return __shfl_sync(~0u, word, static_cast<int>(lane));
#else
  return emulation::from_lane_of_warp(word, lane);
#endif
}

RAILSHMEM_HD inline void sync_lanes(uint32_t lanes) {
#if defined(__CUDA_ARCH__)
  __syncwarp(lanes);
#else
  emulation::sync_lanes(lanes);
#endif
}

/// What the warp's first thread passes. All threads of the warp call.
RAILSHMEM_HD inline uint32_t from_first_of_warp(uint32_t word) {
#if defined(__CUDA_ARCH__)
  const uint32_t size = warp_size();
  return __shfl_sync(size == kWarp ? ~0u : (1u << size) - 1, word, 0);
#else
  return emulation::from_first_of_warp(word);
#endif
}

/// The warp's threads that raise a hand, as bits. All threads of the warp call.
RAILSHMEM_HD inline uint32_t lanes_that(bool raise) {
#if defined(__CUDA_ARCH__)
  const uint32_t size = warp_size();
  return __ballot_sync(size == kWarp ? ~0u : (1u << size) - 1, raise);
#else
  return emulation::lanes_that(raise);
#endif
}

/// What the block's first thread passes, at most `most`, which is at most 1024. All threads of the block call. Needs no
/// shared memory: as many threads of the first warp raise a hand as say the word, and a meeting counts them.
RAILSHMEM_HD inline uint32_t from_first_of_block(uint32_t word, uint32_t most) {
#if defined(__CUDA_ARCH__)
  const uint32_t rank = rank_in_block();
  const auto raised = [](bool hand) {
    sync_warp();  // bar.red wants all threads of a warp at once
    uint32_t count;
    asm volatile("{\n\t.reg .pred hand;\n\tsetp.ne.u32 hand, %1, 0;\n\tbar.red.popc.u32 %0, 0, hand;\n\t}"
                 : "=r"(count)
                 : "r"(static_cast<uint32_t>(hand))
                 : "memory");
    return count;
  };
  if (block_size() <= kWarp) return from_first_of_warp(word);
  if (rank < kWarp) word = from_first_of_warp(word);
  const bool first = rank < kWarp;
  if (most <= kWarp) return raised(first && rank < word);
  const uint32_t tens = raised(first && rank < word / (kWarp + 1));
  return tens * (kWarp + 1) + raised(first && rank < word % (kWarp + 1));
#else
  (void)most;
  return emulation::from_first_of_block(word);
#endif
}

/// Those before the calling thread's lane.
RAILSHMEM_HD inline uint32_t lanes_before() {
#if defined(__CUDA_ARCH__)
  unsigned before;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
  return before;
#else
  return (1u << lane()) - 1;
#endif
}

RAILSHMEM_HD inline uint32_t count_lanes(uint32_t lanes) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__popc(lanes));
#else
  return static_cast<uint32_t>(__builtin_popcount(lanes));
#endif
}

RAILSHMEM_HD inline uint32_t first_lane(uint32_t lanes) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__ffs(static_cast<int>(lanes)) - 1);
#else
  return static_cast<uint32_t>(__builtin_ctz(lanes));
#endif
}
#else
RAILSHMEM_HD inline uint32_t from_first_of_warp(uint32_t word) {
  return word;
}
RAILSHMEM_HD inline uint32_t from_first_of_block(uint32_t word, uint32_t) {
  return word;
}
RAILSHMEM_HD inline uint32_t lanes_that(bool raise) {
  return raise ? 1 : 0;
}
#endif

}  // namespace threads
}  // namespace railshmem

#endif

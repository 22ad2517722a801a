// SPDX-License-Identifier: BSD-3-Clause
// Who the calling thread is among the threads of its kernel. Host code is a kernel of one thread, unless tests emulate
// kernels by host threads (RAILSHMEM_EMULATION, tests/support/emulation.h).
#ifndef SHMEM_DETAIL_THREADS_H
#define SHMEM_DETAIL_THREADS_H

#include <stdint.h>

#include "shmem/detail/portable.h"

namespace railshmem {

#if defined(RAILSHMEM_EMULATION)
namespace emulation {
uint32_t thread_in_block();
uint32_t threads_in_block();
uint32_t block_in_grid();
void sync_block();
void sync_warp();
}  // namespace emulation
#endif

namespace threads {

inline constexpr uint32_t kWarp = 32;

RAILSHMEM_HD inline uint32_t rank_in_block() {
#if defined(__CUDA_ARCH__)
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
#elif defined(RAILSHMEM_EMULATION)
  return emulation::thread_in_block();
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
#if defined(__CUDA_ARCH__)
  return blockDim.x * blockDim.y * blockDim.z;
#elif defined(RAILSHMEM_EMULATION)
  return emulation::threads_in_block();
#else
  return 1;
#endif
}

RAILSHMEM_HD inline uint32_t block_in_grid() {
#if defined(__CUDA_ARCH__)
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
#elif defined(RAILSHMEM_EMULATION)
  return emulation::block_in_grid();
#else
  return 0;
#endif
}

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

}  // namespace threads
}  // namespace railshmem

#endif

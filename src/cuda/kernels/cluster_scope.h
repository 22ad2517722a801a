// SPDX-License-Identifier: BSD-3-Clause
// The scope of a call that all threads of a cluster of blocks make with equal arguments. One multiprocessor stores only
// an eighth of what NVLink takes. The blocks of a cluster run at once, so they can wait for each other.
#pragma once

#include "shmem/detail/device_control.h"
#include "shmem/detail/threads.h"

namespace railshmem::cuda::kernels {

/// Where there are no clusters (before Hopper, and outside of a GPU) the scope is one block.
struct ClusterScope {
  static constexpr int kCopyUnroll = 4;  ///< loads in flight per thread
  static constexpr int kSpreadUnroll = 4;
  static constexpr uint64_t kPacketBytes = DeviceControlLayout::kPacketBytes;
  RAILSHMEM_HD static uint32_t block() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
#else
    return 0;
#endif
  }
  RAILSHMEM_HD static uint32_t nblocks() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    uint32_t n;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
    return n;
#else
    return 1;
#endif
  }
  RAILSHMEM_HD static uint32_t rank() {
    return block() * threads::block_size() + threads::rank_in_block();
  }
  RAILSHMEM_HD static uint32_t size() {
    return nblocks() * threads::block_size();
  }
  RAILSHMEM_HD static bool leads() {
    return rank() == 0;
  }
  /// All threads meet here. The stores of each thread before are visible to all others after, and to every thread that
  /// these tell. One thread's fence covers its block: a fence by each thread would wait for the stores of all, one
  /// after the other.
  RAILSHMEM_HD static void sync() {
    threads::sync_block();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threads::rank_in_block() == 0) asm volatile("fence.acq_rel.gpu;" ::: "memory");
    asm volatile("barrier.cluster.arrive.relaxed;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
#endif
  }
};

}  // namespace railshmem::cuda::kernels

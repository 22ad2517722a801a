// SPDX-License-Identifier: BSD-3-Clause
// Kernels behind stream-ordered calls, of a warp, a block or a cluster of blocks. Their view of the job is
// railshmem_device_view. They take at most half of a multiprocessor's registers, to find a place beside kernels of the
// program.
#include "src/cuda/kernels/stream.h"

#include "src/cuda/kernels/stream_many.h"

using railshmem::cuda::kStreamBlockThreads;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define RAILSHMEM_STREAM_CLUSTER __cluster_dims__(8)  // the most that every such GPU has
#else
#define RAILSHMEM_STREAM_CLUSTER
#endif

extern "C" __global__ void __launch_bounds__(32, 1)
    railshmem_stream_step(const __grid_constant__ railshmem::cuda::StreamCall call) {
  railshmem::cuda::kernels::run_step(call);
}

extern "C" __global__ void __launch_bounds__(kStreamBlockThreads, 2)
    railshmem_stream_block(const __grid_constant__ railshmem::cuda::StreamCall call) {
  railshmem::cuda::kernels::run_near<railshmem::device::BlockScope>(call);
}

extern "C" __global__ void RAILSHMEM_STREAM_CLUSTER __launch_bounds__(kStreamBlockThreads, 2)
    railshmem_stream_cluster(const __grid_constant__ railshmem::cuda::StreamCall call) {
  railshmem::cuda::kernels::run_near<railshmem::cuda::kernels::ClusterScope>(call);
}

/// Any grid.
extern "C" __global__ void __launch_bounds__(256, 1)
    railshmem_stream_strided(const __grid_constant__ railshmem::cuda::StreamStrides strides) {
  railshmem::cuda::kernels::run_strided(strides);
}

extern "C" __global__ void __launch_bounds__(32, 1)
    railshmem_stream_words(const __grid_constant__ railshmem::cuda::StreamWords words) {
  railshmem::cuda::kernels::run_words(words);
}

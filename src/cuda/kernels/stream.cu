// SPDX-License-Identifier: BSD-3-Clause
// Kernels behind stream-ordered calls, of one block unless they say otherwise. Their view of the job is
// railshmem_device_view.
#include "src/cuda/kernels/stream.h"

#include "src/cuda/kernels/stream_many.h"

extern "C" __global__ void __launch_bounds__(32)
    railshmem_stream_step(const __grid_constant__ railshmem::cuda::StreamCall call) {
  railshmem::cuda::kernels::run_step(call);
}

extern "C" __global__ void __launch_bounds__(512)
    railshmem_stream_collective(const __grid_constant__ railshmem::cuda::StreamCall call) {
  __shared__ railshmem::DeviceReduction reduction;
  railshmem::cuda::kernels::run_collective(call, reduction);
}

/// Any grid. One block at least to a multiprocessor: without that number the compiler spills registers here.
extern "C" __global__ void __launch_bounds__(256, 1)
    railshmem_stream_strided(const __grid_constant__ railshmem::cuda::StreamStrides strides) {
  railshmem::cuda::kernels::run_strided(strides);
}

extern "C" __global__ void __launch_bounds__(32)
    railshmem_stream_words(const __grid_constant__ railshmem::cuda::StreamWords words) {
  railshmem::cuda::kernels::run_words(words);
}

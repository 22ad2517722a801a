// SPDX-License-Identifier: BSD-3-Clause
// Kernels behind stream-ordered calls, of one block. Their view of the job is railshmem_device_view.
#include "src/cuda/kernels/stream.h"

extern "C" __global__ void __launch_bounds__(32)
    railshmem_stream_step(const __grid_constant__ railshmem::cuda::StreamCall call) {
  railshmem::cuda::kernels::run_step(call);
}

extern "C" __global__ void __launch_bounds__(512)
    railshmem_stream_collective(const __grid_constant__ railshmem::cuda::StreamCall call) {
  __shared__ railshmem::DeviceReduction reduction;
  railshmem::cuda::kernels::run_collective(call, reduction);
}

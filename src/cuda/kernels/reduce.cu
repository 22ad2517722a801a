// SPDX-License-Identifier: BSD-3-Clause
// Reductions that host code asks for, on arrays in the memory of this GPU and of GPUs that are mapped here.
#include "src/cuda/kernels/reduce.h"

/// Any grid.
extern "C" __global__ void __launch_bounds__(512)
    railshmem_reduce(const __grid_constant__ railshmem::DeviceReduction reduction) {
  const uint64_t first = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  railshmem::cuda::kernels::reduce(reduction, first, static_cast<uint64_t>(gridDim.x) * blockDim.x);
}

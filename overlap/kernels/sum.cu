// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/kernels/sum.h"

extern "C" __global__ void __launch_bounds__(512)
    railshmem_overlap_sum(const __grid_constant__ railshmem::overlap::SumCall call) {
  railshmem::overlap::kernels::sum(call, blockIdx.x * uint64_t{blockDim.x} + threadIdx.x,
                                   uint64_t{gridDim.x} * blockDim.x);
}

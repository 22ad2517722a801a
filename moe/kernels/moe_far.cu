// SPDX-License-Identifier: BSD-3-Clause
// The kernels of few tokens for teams on several nodes, in a unit and an image of their own, as moe_masking.cu. Their
// view of the job is railshmem_device_view.
#include "moe/kernels/begin.h"
#include "moe/kernels/few_far_calls.h"

using namespace railshmem::moe;

#define RAILSHMEM_MOE_KERNEL(NAME, CALL, ...)                                     \
  extern "C" __global__ void __launch_bounds__(CALL::kMostThreads, CALL::kBlocks) \
      NAME##_far(const __grid_constant__ CALL call) {                             \
    __shared__ kernels::FarShared shared;                                         \
    kernels::begin_kernel();                                                      \
    kernels::__VA_ARGS__(call, shared);                                           \
  }
#define RAILSHMEM_MOE_DISPATCH(NAME, ...) \
  RAILSHMEM_MOE_KERNEL(NAME, FarFewCall<DispatchCall>, run_far_dispatch<kernels::__VA_ARGS__, kernels::FarFewPart>)
#define RAILSHMEM_MOE_COMBINE(NAME, ...) \
  RAILSHMEM_MOE_KERNEL(NAME, FarFewCall<CombineCall>, run_far_combine<railshmem::__VA_ARGS__, kernels::FarFewPart>)

#include "moe/kernels/few_kernels.inc"

// SPDX-License-Identifier: BSD-3-Clause
// The kernels of handles with masks: a unit and an image of their own, so that those of other handles are compiled as
// if these did not exist. Their view of the job is railshmem_device_view.
#include "moe/kernels/begin.h"
#include "moe/kernels/combine.h"
#include "moe/kernels/dispatch.h"

using namespace railshmem::moe;

#define RAILSHMEM_MOE_KERNEL(NAME, CALL, ...)                                     \
  extern "C" __global__ void __launch_bounds__(CALL::kMostThreads, CALL::kBlocks) \
      NAME##_masking(const __grid_constant__ CALL call) {                         \
    __shared__ kernels::Shared shared;                                            \
    kernels::begin_kernel();                                                      \
    kernels::__VA_ARGS__(call, shared);                                           \
  }
#define RAILSHMEM_MOE_DISPATCH(NAME, ...) \
  RAILSHMEM_MOE_KERNEL(NAME, DispatchCall, run_dispatch<kernels::__VA_ARGS__, kernels::MaskingPart>)
#define RAILSHMEM_MOE_COMBINE(NAME, ...) \
  RAILSHMEM_MOE_KERNEL(NAME, CombineCall, run_combine<railshmem::__VA_ARGS__, kernels::MaskingPart>)

#include "moe/kernels/few_kernels.inc"

extern "C" __global__ void railshmem_moe_mask(const __grid_constant__ MaskCall call) {
  kernels::begin_kernel();
  kernels::run_mask<false>(call);
}

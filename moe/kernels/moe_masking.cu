// SPDX-License-Identifier: BSD-3-Clause
// The kernels of handles with masks: a unit and an image of their own, so that those of other handles are compiled as
// if these did not exist. Their view of the job is railshmem_device_view.
#include "moe/kernels/combine.h"
#include "moe/kernels/dispatch.h"

using namespace railshmem::moe;

#define RAILSHMEM_MOE_KERNEL(NAME, CALL, ...)                                                                   \
  extern "C" __global__ void __launch_bounds__(kThreads, 2) NAME##_masking(const __grid_constant__ CALL call) { \
    __shared__ kernels::Shared shared;                                                                          \
    kernels::__VA_ARGS__(call, shared);                                                                         \
  }
#define RAILSHMEM_MOE_DISPATCH(NAME, ...) \
  RAILSHMEM_MOE_KERNEL(NAME, DispatchCall, run_dispatch<kernels::__VA_ARGS__, kernels::MaskingPart>)
#define RAILSHMEM_MOE_COMBINE(NAME, ...) \
  RAILSHMEM_MOE_KERNEL(NAME, CombineCall, run_combine<railshmem::__VA_ARGS__, kernels::MaskingPart>)

RAILSHMEM_MOE_DISPATCH(railshmem_moe_dispatch, PlainPayload)
RAILSHMEM_MOE_DISPATCH(railshmem_moe_dispatch_given, GivenPayload)
RAILSHMEM_MOE_DISPATCH(railshmem_moe_dispatch_scaled_half, ScaledPayload<railshmem::Half, false>)
RAILSHMEM_MOE_DISPATCH(railshmem_moe_dispatch_scaled_bfloat16, ScaledPayload<railshmem::Bfloat16, false>)
RAILSHMEM_MOE_DISPATCH(railshmem_moe_dispatch_powers_half, ScaledPayload<railshmem::Half, true>)
RAILSHMEM_MOE_DISPATCH(railshmem_moe_dispatch_powers_bfloat16, ScaledPayload<railshmem::Bfloat16, true>)
RAILSHMEM_MOE_COMBINE(railshmem_moe_combine_half, Half, false)
RAILSHMEM_MOE_COMBINE(railshmem_moe_combine_bfloat16, Bfloat16, false)
RAILSHMEM_MOE_COMBINE(railshmem_moe_combine_late_half, Half, true)
RAILSHMEM_MOE_COMBINE(railshmem_moe_combine_late_bfloat16, Bfloat16, true)

extern "C" __global__ void railshmem_moe_mask(const __grid_constant__ MaskCall call) {
  kernels::run_mask(call);
}

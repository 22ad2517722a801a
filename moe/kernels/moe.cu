// SPDX-License-Identifier: BSD-3-Clause
// The kernels. Their view of the job is railshmem_device_view.
#include "moe/kernels/begin.h"
#include "moe/kernels/bulk_count.h"
#include "moe/kernels/bulk_far_combine.h"
#include "moe/kernels/bulk_far_dispatch.h"
#include "moe/kernels/combine.h"
#include "moe/kernels/dispatch.h"

using namespace railshmem::moe;

#define RAILSHMEM_MOE_KERNEL(NAME, CALL, ...)                                     \
  extern "C" __global__ void __launch_bounds__(CALL::kMostThreads, CALL::kBlocks) \
      NAME(const __grid_constant__ CALL call) {                                   \
    __shared__ kernels::Shared shared;                                            \
    kernels::begin_kernel();                                                      \
    kernels::__VA_ARGS__(call, shared);                                           \
  }

#define RAILSHMEM_MOE_DISPATCH(NAME, ...) \
  RAILSHMEM_MOE_KERNEL(NAME, DispatchCall, run_dispatch<kernels::__VA_ARGS__, kernels::Part>)
#define RAILSHMEM_MOE_COMBINE(NAME, ...) \
  RAILSHMEM_MOE_KERNEL(NAME, CombineCall, run_combine<railshmem::__VA_ARGS__, kernels::Part>)

#include "moe/kernels/few_kernels.inc"

#define RAILSHMEM_MOE_BULK_KERNEL(NAME, CALL, ...)                                                        \
  extern "C" __global__ void __launch_bounds__(kBulkThreads, 1) NAME(const __grid_constant__ CALL call) { \
    kernels::begin_kernel();                                                                              \
    kernels::__VA_ARGS__(call).run();                                                                     \
  }

RAILSHMEM_MOE_BULK_KERNEL(railshmem_moe_bulk_dispatch, BulkDispatchCall, BulkDispatch<kernels::BulkPart>)
RAILSHMEM_MOE_BULK_KERNEL(railshmem_moe_bulk_combine_half, BulkCombineCall,
                          BulkCombine<railshmem::Half, kernels::BulkPart>)
RAILSHMEM_MOE_BULK_KERNEL(railshmem_moe_bulk_combine_bfloat16, BulkCombineCall,
                          BulkCombine<railshmem::Bfloat16, kernels::BulkPart>)

RAILSHMEM_MOE_BULK_KERNEL(railshmem_moe_bulk_far_dispatch, BulkFarDispatchCall, BulkFarDispatch)
RAILSHMEM_MOE_BULK_KERNEL(railshmem_moe_bulk_far_combine_half, BulkFarCombineCall, BulkFarCombine<railshmem::Half>)
RAILSHMEM_MOE_BULK_KERNEL(railshmem_moe_bulk_far_combine_bfloat16, BulkFarCombineCall,
                          BulkFarCombine<railshmem::Bfloat16>)

#define RAILSHMEM_MOE_COUNT_KERNEL(NAME, FAR)                                                                   \
  extern "C" __global__ void __launch_bounds__(kCountThreads, 4) NAME(const __grid_constant__ CountCall call) { \
    __shared__ kernels::CountShared shared;                                                                     \
    kernels::begin_kernel();                                                                                    \
    kernels::BulkCount<FAR>(call, shared).run();                                                                \
  }

RAILSHMEM_MOE_COUNT_KERNEL(railshmem_moe_bulk_layout, false)
RAILSHMEM_MOE_COUNT_KERNEL(railshmem_moe_bulk_far_layout, true)

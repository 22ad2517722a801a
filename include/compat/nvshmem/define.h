// SPDX-License-Identifier: BSD-3-Clause
//
// How a name of NVSHMEM becomes a function that calls ours. PARAMETERS and ARGUMENTS are in parentheses; CALL is the
// name of our function.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_DEFINE_H
#define RAILSHMEM_COMPAT_NVSHMEM_DEFINE_H

#include "nvshmem/includes.h"
#include "shmem/device/calls/collective.h"
#include "shmem/device/calls/ordering.h"
#include "shmem/device/calls/reduce.h"
#include "shmemx.h"

/// RAILSHMEM_COMPAT_HOST marks functions for the host only; RAILSHMEM_COMPAT_SIDES marks those for host and kernels.
#define RAILSHMEM_COMPAT_HOST static inline
#if defined(__CUDACC__)
#define RAILSHMEM_COMPAT_SIDES __host__ __device__ inline
#else
#define RAILSHMEM_COMPAT_SIDES static inline
#endif

/// Opens a function for host and kernels that only calls ours.
#if defined(__CUDACC__)
#define RAILSHMEM_COMPAT_BOTH RAILSHMEM_LAZY __host__ __device__ inline
#else
#define RAILSHMEM_COMPAT_BOTH static inline
#endif

#define RAILSHMEM_COMPAT(R, NAME, PARAMETERS, CALL, ARGUMENTS) \
  RAILSHMEM_COMPAT_BOTH R NAME PARAMETERS {                    \
    return CALL ARGUMENTS;                                     \
  }

/// The body of a function for both sides: the first call in a kernel, the second on the host.
#if defined(__CUDA_ARCH__)
#define RAILSHMEM_COMPAT_BY_SIDE(IN_KERNEL, ON_HOST) IN_KERNEL
#else
#define RAILSHMEM_COMPAT_BY_SIDE(IN_KERNEL, ON_HOST) ON_HOST
#endif

/// Functions for kernels only, which warps and blocks call together.
#if defined(RAILSHMEM_KERNEL_NAMES)
#define RAILSHMEM_COMPAT_KERNEL(R, NAME, PARAMETERS, CALL, ARGUMENTS) \
  RAILSHMEM_KERNEL inline R NAME PARAMETERS {                         \
    return CALL ARGUMENTS;                                            \
  }
namespace railshmem {
namespace device {
namespace compat {
RAILSHMEM_KERNEL inline void meet_warp() {
  WarpScope::sync();
}
RAILSHMEM_KERNEL inline void meet_block() {
  BlockScope::sync();
}
}  // namespace compat
}  // namespace device
}  // namespace railshmem
#else
#define RAILSHMEM_COMPAT_KERNEL(R, NAME, PARAMETERS, CALL, ARGUMENTS)
#endif

/// Types of 16 bits that the standard does not know; they are moved by their size. In C++ with the CUDA toolkit only.
#if defined(RAILSHMEM_COMPAT_RUNTIME) && defined(__cplusplus)
#define RAILSHMEM_COMPAT_HALF 1
#endif

#endif

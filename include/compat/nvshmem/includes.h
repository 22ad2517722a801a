// SPDX-License-Identifier: BSD-3-Clause
//
// What NVSHMEM's header brings along: programs written for it count on these.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_INCLUDES_H
#define RAILSHMEM_COMPAT_NVSHMEM_INCLUDES_H

#if defined(__CUDACC__)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#define RAILSHMEM_COMPAT_RUNTIME 1
#elif defined(__has_include)
#if __has_include(<cuda_runtime.h>)
#define RAILSHMEM_COMPAT_RUNTIME 1
#endif
#endif

#if defined(RAILSHMEM_COMPAT_RUNTIME)
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#endif
#if defined(__CUDACC__)
#include <cuda/std/cassert>
#include <cuda/std/climits>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#include <cuda/std/cstdlib>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#endif

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__cplusplus)
#include <algorithm>
#endif

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// Modules and libraries of kernels that the program loads itself.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_MODULE_H
#define RAILSHMEM_COMPAT_NVSHMEM_MODULE_H

#include "nvshmem/constants.h"

#if defined(RAILSHMEM_COMPAT_RUNTIME)

RAILSHMEM_COMPAT_HOST int nvshmemx_cumodule_init(CUmodule module) {
  return shmemx_cumodule_init(module) == 0 ? NVSHMEMX_SUCCESS : NVSHMEMX_ERROR_INVALID_VALUE;
}
RAILSHMEM_COMPAT_HOST int nvshmemx_cumodule_finalize(CUmodule module) {
  return shmemx_cumodule_finalize(module) == 0 ? NVSHMEMX_SUCCESS : NVSHMEMX_ERROR_INVALID_VALUE;
}

#if CUDA_VERSION >= 12000
RAILSHMEM_COMPAT_HOST int nvshmemx_culibrary_init(CUlibrary library) {
  return shmemx_culibrary_init(library) == 0 ? NVSHMEMX_SUCCESS : NVSHMEMX_ERROR_INVALID_VALUE;
}
RAILSHMEM_COMPAT_HOST int nvshmemx_culibrary_finalize(CUlibrary library) {
  return shmemx_culibrary_finalize(library) == 0 ? NVSHMEMX_SUCCESS : NVSHMEMX_ERROR_INVALID_VALUE;
}
#endif

#endif

#endif

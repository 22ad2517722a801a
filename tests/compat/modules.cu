// SPDX-License-Identifier: BSD-3-Clause
//
// A program that loads its kernels itself. Compile-only.
#include <nvshmem.h>
#include <nvshmemx.h>

int use_module(CUmodule module) {
  const int status = nvshmemx_cumodule_init(module);
  return status != NVSHMEMX_SUCCESS ? status : nvshmemx_cumodule_finalize(module);
}

#if CUDA_VERSION >= 12000
int use_library(CUlibrary library) {
  const int status = nvshmemx_culibrary_init(library);
  return status != NVSHMEMX_SUCCESS ? status : nvshmemx_culibrary_finalize(library);
}
#endif

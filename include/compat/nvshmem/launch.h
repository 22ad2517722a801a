// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels whose blocks wait for each other, or for other PEs: a cooperative launch, which starts all blocks or none.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_LAUNCH_H
#define RAILSHMEM_COMPAT_NVSHMEM_LAUNCH_H

#include "nvshmem/constants.h"

#if defined(RAILSHMEM_COMPAT_RUNTIME)

/// The largest grid of such blocks that the current device holds at once.
RAILSHMEM_COMPAT_HOST int nvshmemx_collective_launch_query_gridsize(const void* func, dim3 blockDims, void** args,
                                                                    size_t sharedMem, int* gridsize) {
  int device = 0;
  int processors = 0;
  int blocks = 0;
  const int threads = (int)(blockDims.x * blockDims.y * blockDims.z);
  (void)args;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, func, threads, sharedMem) != cudaSuccess) {
    return NVSHMEMX_ERROR_INTERNAL;
  }
  *gridsize = blocks * processors;
  return NVSHMEMX_SUCCESS;
}

/// A grid of 0 asks for the largest that fits.
RAILSHMEM_COMPAT_HOST int nvshmemx_collective_launch(const void* func, dim3 gridDims, dim3 blockDims, void** args,
                                                     size_t sharedMem, cudaStream_t stream) {
  if (gridDims.x == 0 && gridDims.y == 0 && gridDims.z == 0) {
    int largest = 0;
    const int status = nvshmemx_collective_launch_query_gridsize(func, blockDims, args, sharedMem, &largest);
    if (status != NVSHMEMX_SUCCESS) return status;
    gridDims.x = (unsigned)largest;
    gridDims.y = 1;
    gridDims.z = 1;
  }
  return cudaLaunchCooperativeKernel(func, gridDims, blockDims, args, sharedMem, stream) == cudaSuccess
             ? NVSHMEMX_SUCCESS
             : NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED;
}

#endif

#endif

// SPDX-License-Identifier: BSD-3-Clause
// A kernel that does not communicate: its code must not depend on whether the header is included (WITH_SHMEM).
#if defined(WITH_SHMEM)
#include <shmem.h>
#endif

__global__ void saxpy(float* y, const float* x, float a, int n) {
  __shared__ float tile[256];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    tile[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = a * tile[threadIdx.x ^ 1] + y[i];
    __syncthreads();
  }
}

// SPDX-License-Identifier: BSD-3-Clause
//
// nvshmem.h alone: what programs count on it to bring, in a unit that forbids operators of 16-bit types as extensions
// of PyTorch do. Compiled, not launched.
#define __CUDA_NO_HALF_OPERATORS__
#define __CUDA_NO_HALF_CONVERSIONS__
#define __CUDA_NO_HALF2_OPERATORS__
#define __CUDA_NO_BFLOAT16_CONVERSIONS__
#define __CUDA_NO_BFLOAT16_OPERATORS__
#include <nvshmem.h>

__global__ void brought(nvshmem_team_t team, int* d, __half* h, __nv_bfloat16* b, double2* pairs, short* words,
                        size_t n) {
  namespace groups = cooperative_groups;
  const auto warp = groups::tiled_partition<32>(groups::this_thread_block());
  d[0] = groups::reduce(warp, d[1], groups::plus<int>());
  groups::this_grid().sync();
  assert(n < SIZE_MAX);
  static_assert(cuda::std::is_same<cuda::std::uint64_t, uint64_t>::value, "cuda/std");
  nvshmemx_barrier_warpgroup(team);
  nvshmemx_double2_maxloc_reduce_block(team, pairs, pairs, n);
  nvshmem_half_sum_reduce(team, h, h, n);
  nvshmemx_bfloat16_max_reducescatter_warp(team, b, b, n);
  nvshmem_short_wait_until_all(words, n, nullptr, NVSHMEM_CMP_EQ, 1);
  d[2] = nvshmemx_mc_ptr(team, d) == nullptr;
}

int on_host(nvshmem_team_t* team, nvshmem_team_config_t* config, __half* h, size_t n, cudaStream_t stream) {
  CUdeviceptr address = 0;
  cudaError_t status = cudaStreamSynchronize(stream);
  return nvshmemx_team_init(team, config, 0, 2, 0) + nvshmem_half_prod_reduce(*team, h, h, n) +
         static_cast<int>(address) + static_cast<int>(status) + std::min(errno, 0);
}

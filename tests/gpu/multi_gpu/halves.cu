// SPDX-License-Identifier: BSD-3-Clause
// Reductions of 16-bit types, in NVSHMEM's names, by blocks and in the order of a stream. A unit of its own beside the
// program's, with a view of its own.
#include "tests/gpu/multi_gpu/halves.h"

#include <nvshmem.h>
#include <nvshmemx.h>

namespace railshmem::multi {
namespace {

constexpr int kValues = 3001, kThreads = 512;

/// Small whole numbers, which 16 bits hold exactly, and so do the sums over a few PEs.
__device__ int value_of(int i, int pe) {
  return i % 8 + pe;
}

__global__ void fill(__half* halves, __nv_bfloat16* brains, int pe) {
  for (int i = threadIdx.x; i < kValues; i += blockDim.x) {
    halves[i] = __float2half(static_cast<float>(value_of(i, pe)));
    brains[i] = __float2bfloat16(static_cast<float>(value_of(i, pe)));
  }
}

__global__ void reduce(__half* sums, const __half* halves, __nv_bfloat16* most, const __nv_bfloat16* brains) {
  nvshmemx_half_sum_reduce_block(NVSHMEM_TEAM_WORLD, sums, halves, kValues);
  nvshmemx_bfloat16_max_reduce_block(NVSHMEM_TEAM_WORLD, most, brains, kValues);
}

__global__ void check(Findings* findings, const __half* sums, const __nv_bfloat16* most, int npes) {
  for (int i = threadIdx.x; i < kValues; i += blockDim.x) {
    EXPECT_EQ(__half2float(sums[i]), npes * (i % 8) + npes * (npes - 1) / 2);
    EXPECT_EQ(__bfloat162float(most[i]), value_of(i, npes - 1));
  }
}

/// dest and source do not overlap: a PE's part of the sums.
__global__ void check_part(Findings* findings, const __half* part, int each, int me, int npes) {
  for (int i = threadIdx.x; i < each; i += blockDim.x) {
    EXPECT_EQ(__half2float(part[i]), npes * ((me * each + i) % 8) + npes * (npes - 1) / 2);
  }
}

}  // namespace

void reduce_halves(Job& job) {
  auto* const halves = static_cast<__half*>(nvshmem_calloc(2 * kValues, sizeof(__half)));
  auto* const brains = static_cast<__nv_bfloat16*>(nvshmem_calloc(2 * kValues, sizeof(__nv_bfloat16)));
  __half* const sums = halves + kValues;
  __nv_bfloat16* const most = brains + kValues;
  const auto clear = [&] {
    CUDA_MUST(cudaMemset(sums, 0, kValues * sizeof(__half)));
    CUDA_MUST(cudaMemset(most, 0, kValues * sizeof(__nv_bfloat16)));
    CUDA_MUST(cudaDeviceSynchronize());
  };
  fill<<<1, kThreads>>>(halves, brains, job.me);
  clear();
  job.run("halves by a block", [&](Findings* f) {
    reduce<<<1, kThreads>>>(sums, halves, most, brains);
    check<<<1, kThreads>>>(f, sums, most, job.npes);
  });
  clear();
  job.run("halves on a stream", [&](Findings* f) {
    cudaStream_t stream = nullptr;
    CUDA_MUST(cudaStreamCreate(&stream));
    int status = nvshmemx_half_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, sums, halves, kValues, stream);
    status += nvshmemx_bfloat16_max_reduce_on_stream(NVSHMEM_TEAM_WORLD, most, brains, kValues, stream);
    check<<<1, kThreads, 0, stream>>>(f, sums, most, job.npes);
    const int each = kValues / job.npes;
    status += nvshmemx_half_sum_reducescatter_on_stream(NVSHMEM_TEAM_WORLD, sums, halves, each, stream);
    check_part<<<1, kThreads, 0, stream>>>(f, sums, each, job.me, job.npes);
    CUDA_MUST(cudaStreamSynchronize(stream));
    CUDA_MUST(cudaStreamDestroy(stream));
    job.failures += status != 0;
  });
  nvshmem_free(halves);
  nvshmem_free(brains);
}

}  // namespace railshmem::multi

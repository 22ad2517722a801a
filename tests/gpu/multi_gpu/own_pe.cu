// SPDX-License-Identifier: BSD-3-Clause
// Calls whose target is the calling PE, of kernels and of the host, on memory of cudaMalloc: a plain access. So does
// the reference run of many a program, which calls its kernels on one GPU before it calls them on all.
#include <vector>

#include "tests/gpu/multi_gpu/gpu_pes.h"

using namespace railshmem::multi;

namespace {

constexpr int kValues = 3000;

template <class T>
T* allocate(size_t n) {
  T* memory = nullptr;
  CUDA_MUST(cudaMalloc(&memory, n * sizeof(T)));
  CUDA_MUST(cudaMemset(memory, 0, n * sizeof(T)));
  return memory;
}

__device__ float value_of(int i, int me) {
  return static_cast<float>(i % 1000 + me);
}

/// A row in the middle goes to both ends by single values.
__global__ void values(float* array, int n, int me) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    shmem_float_p(array + i, value_of(i, me), me);
    shmem_float_p(array + 2 * n + i, shmem_float_g(array + i, me) + 1, me);
  }
}
__global__ void check_values(Findings* findings, const float* array, int n, int me) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    EXPECT_EQ(array[i], value_of(i, me));
    EXPECT_EQ(array[n + i], 0);
    EXPECT_EQ(array[2 * n + i], value_of(i, me) + 1);
  }
}

__global__ void blocks(int* to, int* back, const int* from, int n, int me) {
  shmemx_int_put_block(to, from, n, me);
  __syncthreads();
  if (threadIdx.x < 32) shmemx_int_get_nbi_warp(back, to, n, me);
  __syncthreads();
  shmemx_int_iput_block(back + n, from, 2, 1, n / 2, me);
  if (threadIdx.x == 0) shmem_int_iget(back + 2 * n, from, 1, 3, n / 3, me);
  if (threadIdx.x == 0) shmem_quiet();
}
__global__ void check_blocks(Findings* findings, const int* to, const int* back, const int* from, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    EXPECT_EQ(to[i], from[i]);
    EXPECT_EQ(back[i], from[i]);
    EXPECT_EQ(back[n + i], i % 2 == 0 ? from[i / 2] : 0);
    EXPECT_EQ(back[2 * n + i], i < n / 3 ? from[3 * i] : 0);
  }
}
__global__ void count_up(int* array, int n, int me) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) array[i] = i * 7 + me;
}

__global__ void words(unsigned long long* sum, unsigned* bits, int me) {
  shmem_ulonglong_atomic_add(sum, 3, me);
  shmem_uint_atomic_fetch_or(bits, 1u << (threadIdx.x % 32), me);
}
__global__ void check_words(Findings* findings, unsigned long long* sum, unsigned* bits, int nthreads, int me) {
  EXPECT_EQ(shmem_ulonglong_atomic_fetch(sum, me), 3ull * static_cast<unsigned long long>(nthreads));
  EXPECT_EQ(shmem_uint_atomic_compare_swap(bits, ~0u, 5u, me), ~0u);
  EXPECT_EQ(shmem_uint_g(bits, me), 5u);
}

__global__ void signals(Findings* findings, int* to, const int* from, int n, uint64_t* signal, int me) {
  shmemx_int_put_signal_block(to, from, n, signal, 4, SHMEM_SIGNAL_SET, me);
  if (threadIdx.x != 0) return;
  EXPECT_EQ(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 4), 4);
  shmem_signal_add(signal, 2, me);
  shmem_int_put_signal_nbi(to + n, from, n, signal, 1, SHMEM_SIGNAL_ADD, me);
  shmem_quiet();
  EXPECT_EQ(shmem_signal_fetch(signal), 7);
}
__global__ void check_signalled(Findings* findings, const int* to, const int* from, int n) {
  for (int i = threadIdx.x; i < 2 * n; i += blockDim.x) EXPECT_EQ(to[i], from[i % n]);
}

void by_kernels(Job& job, unsigned threads) {
  const int me = job.me;
  auto* const array = allocate<float>(3 * kValues);
  job.run("p and g", [&](Findings* f) {
    values<<<1, threads>>>(array, kValues, me);
    check_values<<<1, threads>>>(f, array, kValues, me);
  });
  auto* const from = allocate<int>(kValues);
  auto* const to = allocate<int>(2 * kValues);
  auto* const back = allocate<int>(3 * kValues);
  job.run("put, get, iput, iget", [&](Findings* f) {
    count_up<<<1, threads>>>(from, kValues, me);
    blocks<<<1, threads>>>(to, back, from, kValues, me);
    check_blocks<<<1, threads>>>(f, to, back, from, kValues);
  });
  auto* const sum = allocate<unsigned long long>(1);
  auto* const bits = allocate<unsigned>(1);
  job.run("atomics", [&](Findings* f) {
    words<<<4, threads>>>(sum, bits, me);
    check_words<<<1, 1>>>(f, sum, bits, static_cast<int>(4 * threads), me);
  });
  auto* const signal = allocate<uint64_t>(1);
  job.run("signals", [&](Findings* f) {
    signals<<<1, threads>>>(f, to, from, kValues, signal, me);
    check_signalled<<<1, threads>>>(f, to, from, kValues);
  });
  for (void* const memory :
       {static_cast<void*>(array), static_cast<void*>(from), static_cast<void*>(to), static_cast<void*>(back),
        static_cast<void*>(sum), static_cast<void*>(bits), static_cast<void*>(signal)})
    CUDA_MUST(cudaFree(memory));
}

void by_host(Job& job) {
  const int me = job.me;
  auto* const array = allocate<int>(kValues);
  auto* const word = allocate<uint64_t>(1);
  std::vector<int> mine(kValues), seen(kValues);
  for (int i = 0; i < kValues; ++i) mine[i] = i * 3 + me;
  CUDA_MUST(cudaDeviceSynchronize());
  shmem_int_put(array, mine.data(), kValues, me);
  shmem_int_p(array + 1, 99, me);
  shmem_int_get(seen.data(), array, kValues, me);
  mine[1] = 99;
  bool right = seen == mine && shmem_int_g(array + 2, me) == mine[2];
  shmem_int_iput(array, mine.data(), 2, 1, 5, me);
  shmem_int_iget(seen.data(), array, 1, 2, 5, me);
  for (int i = 0; i < 5; ++i) right = right && seen[i] == mine[i];
  shmem_uint64_atomic_add(word, 5, me);
  right = right && shmem_uint64_atomic_fetch_inc(word, me) == 5;
  shmem_int_put_signal(array, mine.data(), kValues, word, 2, SHMEM_SIGNAL_ADD, me);
  right = right && shmem_signal_wait_until(word, SHMEM_CMP_EQ, 8) == 8;
  shmem_signal_set(word, 1, me);
  right = right && shmem_uint64_atomic_fetch(word, me) == 1;
  std::printf("%s host calls, PE %d\n", right ? "ok    " : "FAILED", me);
  job.failures += !right;
  CUDA_MUST(cudaFree(array));
  CUDA_MUST(cudaFree(word));
}

}  // namespace

int main(int argc, char** argv) {
  Job job;
  if (shmemx_attach_device() != 0) shmem_global_exit(1);  // as the first shmem_malloc does, which this program lacks
  by_kernels(job, argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 256);
  by_host(job);
  if (job.me == 0) std::printf("own PE: %d PEs, PE 0: %d failures\n", job.npes, job.failures);
  return job.end();
}

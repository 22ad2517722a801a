// SPDX-License-Identifier: BSD-3-Clause
// Names of NVSHMEM that have no counterpart of the standard's, or promise more, with their results: the barrier of a
// warpgroup, the largest value with its place, transfers that a block meets for, waits for short words, and reductions
// of 16-bit numbers by the host.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <vector>

#include "tests/gpu/multi_gpu/gpu_pes.h"

using namespace railshmem::multi;

namespace {

constexpr int kRounds = 50, kPairs = 700, kHalves = 3001, kShorts = 5;
constexpr unsigned kGroup = 128;

/// Two warpgroups, each with a team of its own: before a barrier each thread stores to the right, after it looks at
/// what came from the left.
__global__ void warpgroups(Findings* findings, int* words, nvshmem_team_t first, nvshmem_team_t second, int me,
                           int npes) {
  const unsigned group = threadIdx.x / kGroup;
  const nvshmem_team_t team = group == 0 ? first : second;
  for (int round = 1; round <= kRounds; ++round) {
    nvshmem_int_p(words + threadIdx.x, round * 1000 + me, (me + 1) % npes);
    EXPECT_EQ(nvshmemx_barrier_warpgroup(team), 0);
    EXPECT_EQ(*static_cast<volatile int*>(words + threadIdx.x), round * 1000 + (me + npes - 1) % npes);
    EXPECT_EQ(nvshmemx_barrier_warpgroup(team), 0);
  }
}

/// The largest value of pair i is that of PE i % npes. Every seventh value is equal on all PEs; then PE 0's pair wins.
__device__ double2 pair_of(int i, int pe, int npes) {
  return {i % 7 == 0 ? 5.0 : i + (pe == i % npes ? 1.0 : 0.0), static_cast<double>(pe * 10000 + i)};
}
__global__ void fill_pairs(double2* pairs, int me, int npes) {
  for (int i = threadIdx.x; i < kPairs; i += blockDim.x) pairs[i] = pair_of(i, me, npes);
}
__global__ void maxloc(Findings* findings, double2* dest, const double2* source, int n, int npes) {
  EXPECT_EQ(nvshmemx_double2_maxloc_reduce_block(NVSHMEM_TEAM_WORLD, dest, source, static_cast<size_t>(n)), 0);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const double2 best = pair_of(i, i % 7 == 0 ? 0 : i % npes, npes);
    EXPECT_EQ(dest[i].x, best.x);
    EXPECT_EQ(dest[i].y, best.y);
  }
}

/// The block puts what its threads have just written, the last of them late, without a meeting of its own before.
__global__ void put_words(long long* dest, long long* source, int right) {
  if (threadIdx.x == blockDim.x - 1) {
    const long long began = clock64();
    while (clock64() - began < 100000) {
    }
  }
  source[threadIdx.x] = 7 + threadIdx.x;
  nvshmemx_longlong_put_nbi_block(dest, source, blockDim.x, right);
}
__global__ void look_at_words(Findings* findings, const long long* words) {
  EXPECT_EQ(words[threadIdx.x], 7 + threadIdx.x);
}

__global__ void shorts(Findings* findings, short* words, int me, int npes) {
  for (int i = 0; i < kShorts; ++i) nvshmem_short_p(words + i, static_cast<short>(i + 1), (me + 1) % npes);
  nvshmem_short_wait_until_all(words, kShorts, nullptr, NVSHMEM_CMP_GT, 0);
  size_t found[kShorts] = {};
  EXPECT_EQ(nvshmem_short_wait_until_any(words, kShorts, nullptr, NVSHMEM_CMP_EQ, 4), 3);
  EXPECT_EQ(nvshmem_short_wait_until_some(words, kShorts, found, nullptr, NVSHMEM_CMP_LE, 2), 2);
  EXPECT_EQ(found[0] + found[1], 1);
  const short each[kShorts] = {1, 2, 3, 4, 5};
  EXPECT_EQ(nvshmem_short_test_all_vector(words, kShorts, nullptr, NVSHMEM_CMP_EQ, each), 1);
  EXPECT_EQ(nvshmem_ushort_test_any(reinterpret_cast<unsigned short*>(words), kShorts, nullptr, NVSHMEM_CMP_GT, 9) ==
                SIZE_MAX,
            1);
}

nvshmem_team_t everybody() {
  nvshmem_team_t team = NVSHMEM_TEAM_INVALID;
  nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, nvshmem_n_pes(), nullptr, 0, &team);
  return team;
}

void check(Job& job, bool right, const char* what) {
  if (!right || job.me == 0) std::printf("%s %s, PE %d\n", right ? "ok    " : "FAILED", what, job.me);
  job.failures += !right;
}

void short_waits_of_the_host(Job& job, short* words) {
  nvshmem_short_wait_until_all(words, kShorts, nullptr, NVSHMEM_CMP_GT, 0);
  check(job,
        nvshmem_short_wait_until_any(words, kShorts, nullptr, NVSHMEM_CMP_EQ, 4) == 3 &&
            nvshmem_short_test_all(words, kShorts, nullptr, NVSHMEM_CMP_LE, 4) == 0,
        "short waits of the host");
}

/// Small whole numbers, which 16 bits hold exactly.
template <class T>
void halves_of_the_host(Job& job, const char* what, int (*sum)(nvshmem_team_t, T*, const T*, size_t),
                        int (*most)(nvshmem_team_t, T*, const T*, size_t), T (*made)(float), float (*value)(T)) {
  auto* const symmetric = static_cast<T*>(nvshmem_malloc(2 * kHalves * sizeof(T)));
  std::vector<T> mine(kHalves), seen(kHalves);
  for (int i = 0; i < kHalves; ++i) mine[i] = made(static_cast<float>(i % 8 + job.me));
  nvshmem_putmem(symmetric, mine.data(), kHalves * sizeof(T), job.me);
  bool right = sum(NVSHMEM_TEAM_WORLD, symmetric + kHalves, symmetric, kHalves) == 0;
  nvshmem_getmem(seen.data(), symmetric + kHalves, kHalves * sizeof(T), job.me);
  for (int i = 0; i < kHalves; ++i)
    right = right && value(seen[i]) == static_cast<float>(job.npes * (i % 8) + job.npes * (job.npes - 1) / 2);
  nvshmem_barrier_all();
  right = right && most(NVSHMEM_TEAM_WORLD, symmetric + kHalves, symmetric, kHalves) == 0;
  nvshmem_getmem(seen.data(), symmetric + kHalves, kHalves * sizeof(T), job.me);
  for (int i = 0; i < kHalves; ++i) right = right && value(seen[i]) == static_cast<float>(i % 8 + job.npes - 1);
  check(job, right, what);
  nvshmem_free(symmetric);
}

}  // namespace

int main() {
  Job job;
  auto* const words = static_cast<int*>(nvshmem_calloc(2 * kGroup, sizeof(int)));
  const nvshmem_team_t first = everybody(), second = everybody();
  job.run("barriers of warpgroups",
          [&](Findings* f) { warpgroups<<<1, 2 * kGroup>>>(f, words, first, second, job.me, job.npes); });
  auto* const pairs = static_cast<double2*>(nvshmem_calloc(2 * kPairs, sizeof(double2)));
  for (const int n : {1, 37, kPairs}) {
    job.run("maxloc", [&](Findings* f) {
      fill_pairs<<<1, 256>>>(pairs, job.me, job.npes);
      CUDA_MUST(cudaDeviceSynchronize());
      maxloc<<<1, 256>>>(f, pairs + kPairs, pairs, n, job.npes);
    });
  }
  auto* const written = static_cast<long long*>(nvshmem_calloc(4 * kGroup, sizeof(long long)));
  job.run("a block puts what its threads wrote", [&](Findings* f) {
    put_words<<<1, 2 * kGroup>>>(written, written + 2 * kGroup, (job.me + 1) % job.npes);
    nvshmemx_barrier_all_on_stream(nullptr);
    look_at_words<<<1, 2 * kGroup>>>(f, written);
  });
  auto* const small = static_cast<short*>(nvshmem_calloc(kShorts, sizeof(short)));
  job.run("short waits of kernels", [&](Findings* f) { shorts<<<1, 1>>>(f, small, job.me, job.npes); });
  short_waits_of_the_host(job, small);
  halves_of_the_host<__half>(job, "halves of the host", nvshmem_half_sum_reduce, nvshmem_half_max_reduce, __float2half,
                             __half2float);
  halves_of_the_host<__nv_bfloat16>(job, "bfloat16 of the host", nvshmem_bfloat16_sum_reduce,
                                    nvshmem_bfloat16_max_reduce, __float2bfloat16, __bfloat162float);
  nvshmem_team_destroy(first);
  nvshmem_team_destroy(second);
  nvshmem_free(written);
  nvshmem_free(small);
  nvshmem_free(pairs);
  nvshmem_free(words);
  if (job.me == 0) std::printf("names of NVSHMEM: %d PEs, PE 0: %d failures\n", job.npes, job.failures);
  return job.end();
}

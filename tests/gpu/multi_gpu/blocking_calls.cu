// SPDX-License-Identifier: BSD-3-Clause
// Calls of CUDA that block, right behind a kernel that puts, gets and updates words of other PEs: cudaMemcpy on the
// default stream, and cudaFree. They hold a lock of the driver until the kernel is over, and the kernel waits for
// threads of the library, which must not need that lock.
#include <vector>

#include "tests/gpu/multi_gpu/gpu_pes.h"

using namespace railshmem::multi;

namespace {

constexpr int kRounds = 20;
constexpr int kLengths[] = {1, 100, 20'000};
constexpr int kMost = 20'000;

/// Values go to the next PE; the kernel waits for those of the PE before, and fetches what it gave away.
__global__ void talk(int* to, int* back, const int* from, uint64_t* signal, uint64_t* count, int n, uint64_t round) {
  const int me = shmem_my_pe(), npes = shmem_n_pes();
  const int next = (me + 1) % npes;
  shmemx_int_put_signal_block(to, from, n, signal, round, SHMEM_SIGNAL_SET, next);
  if (threadIdx.x == 0) {
    shmem_signal_wait_until(signal, SHMEM_CMP_GE, round);
    shmem_uint64_atomic_inc(count, next);
    shmem_int_get(back, to, n, next);
    shmem_quiet();
  }
}

struct Buffers {
  int* to = static_cast<int*>(shmem_malloc(kMost * sizeof(int)));
  int* back = static_cast<int*>(shmem_malloc(kMost * sizeof(int)));
  int* from = static_cast<int*>(shmem_malloc(kMost * sizeof(int)));
  uint64_t* words = static_cast<uint64_t*>(shmem_calloc(2, sizeof(uint64_t)));
};

/// Whether this round's values came.
bool round_is_right(const Job& job, const Buffers& buffers, int n, uint64_t round, bool frees) {
  const int before = (job.me + job.npes - 1) % job.npes;
  std::vector<int> mine(n), came(n), back(n);
  for (int i = 0; i < n; ++i) mine[i] = static_cast<int>(round) * 1'000'000 + i * 16 + job.me;
  void* other = nullptr;
  CUDA_MUST(cudaMalloc(&other, 1 << 20));
  CUDA_MUST(cudaMemcpy(buffers.from, mine.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  shmem_barrier_all();  // nobody reads the last round's values any more
  talk<<<1, 128>>>(buffers.to, buffers.back, buffers.from, buffers.words, buffers.words + 1, n, round);
  CUDA_MUST(cudaGetLastError());
  if (frees) CUDA_MUST(cudaFree(other));
  CUDA_MUST(cudaMemcpy(came.data(), buffers.to, n * sizeof(int), cudaMemcpyDeviceToHost));
  CUDA_MUST(cudaMemcpy(back.data(), buffers.back, n * sizeof(int), cudaMemcpyDeviceToHost));
  if (!frees) CUDA_MUST(cudaFree(other));
  shmem_barrier_all();  // before anybody gives new values
  for (int i = 0; i < n; ++i)
    if (came[i] != mine[i] - job.me + before || back[i] != mine[i]) return false;
  uint64_t count = 0;
  CUDA_MUST(cudaMemcpy(&count, buffers.words + 1, sizeof count, cudaMemcpyDeviceToHost));
  return count == round;
}

}  // namespace

int main() {
  Job job;
  const Buffers buffers;
  uint64_t round = 0;
  for (const bool frees : {false, true})
    for (const int n : kLengths) {
      int wrong = 0;
      for (int i = 0; i < kRounds; ++i) wrong += !round_is_right(job, buffers, n, ++round, frees);
      job.failures += wrong != 0;
      if (wrong != 0 || job.me == 0)
        std::printf("%s %d values, then %s: PE %d, %d wrong rounds of %d\n", wrong == 0 ? "ok    " : "FAILED", n,
                    frees ? "cudaFree" : "cudaMemcpy", job.me, wrong, kRounds);
    }
  return job.end();
}

// SPDX-License-Identifier: BSD-3-Clause
// The device API between PEs, over whatever way leads from one to the other: every PE works on its right neighbour.
#include "tests/gpu/multi_gpu/gpu_pes.h"
#include "tests/gpu/multi_gpu/halves.h"

using namespace railshmem::multi;

namespace {

constexpr int kBytes = 1 << 16, kWords = kBytes / 8, kBlocks = 8, kThreads = 128;

/// The grid of a kernel whose threads all update words of other PEs. Where processes share a GPU their work takes
/// turns, of milliseconds, and an update through the network is two copies: few there.
struct Updaters {
  explicit Updaters(const Job& job)
      : blocks(job.shares_gpu() ? 2 : kBlocks), threads(job.shares_gpu() ? 32 : kThreads) {}
  int blocks, threads;
  int all() const { return blocks * threads; }
};

/// Symmetric memory of the test.
struct Memory {
  uint64_t *source, *dest, *back, *signals, *sums;
};

__device__ uint64_t value_of(int pe, int i, int round) {
  return static_cast<uint64_t>(pe) * 1000003 + static_cast<uint64_t>(i) * 31 + static_cast<uint64_t>(round);
}

__global__ void queries(Findings* findings, int me, int npes) {
  EXPECT_EQ(shmem_my_pe(), me);
  EXPECT_EQ(shmem_n_pes(), npes);
}

__global__ void fill(uint64_t* words, int n, int pe, int round) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    words[i] = value_of(pe, i, round);
}

__global__ void clear(uint64_t* words, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) words[i] = 0;
}

/// 64 bytes at a time of what an earlier kernel wrote, by every thread.
__global__ void put_published(uint64_t* dest, const uint64_t* source, shmem_ctx_t context, int right) {
  constexpr int kEach = 8;
  for (int i = kEach * static_cast<int>(threadIdx.x); i < kWords; i += kEach * static_cast<int>(blockDim.x))
    shmem_ctx_uint64_put_nbi(context, dest + i, source + i, kEach, right);
  __syncthreads();
  if (threadIdx.x == 0) shmem_quiet();
}

__global__ void check_published(Findings* findings, const uint64_t* dest, int left, int round) {
  for (int i = 0; i < kWords; ++i) EXPECT_EQ(dest[i], value_of(left, i, round));
}

enum class By { thread, warp, block };

/// Puts `nbytes` from an odd offset, gets them back, compares.
template <By kBy>
__global__ void put_and_get(Findings* findings, Memory m, int right) {
  auto* const source = reinterpret_cast<unsigned char*>(m.source);
  auto* const dest = reinterpret_cast<unsigned char*>(m.dest);
  auto* const back = reinterpret_cast<unsigned char*>(m.back);
  for (const int nbytes : {1, 7, 8, 64, 1000, 4096, 30000}) {
    for (const int shift : {0, 3, 8}) {
      if constexpr (kBy == By::thread) {
        if (threadIdx.x == 0) {
          shmem_putmem_nbi(dest + shift, source, nbytes, right);
          shmem_quiet();
          shmem_getmem(back, dest + shift, nbytes, right);
        }
      } else if constexpr (kBy == By::warp) {
        if (threadIdx.x < 32) {
          shmemx_putmem_nbi_warp(dest + shift, source, nbytes, right);
          __syncwarp();
          shmem_quiet();
          __syncwarp();
          shmemx_getmem_warp(back, dest + shift, nbytes, right);
        }
      } else {
        shmemx_putmem_nbi_block(dest + shift, source, nbytes, right);
        __syncthreads();
        shmem_quiet();
        __syncthreads();
        shmemx_getmem_block(back, dest + shift, nbytes, right);
      }
      __syncthreads();
      for (int i = threadIdx.x; i < nbytes; i += blockDim.x) EXPECT_EQ(back[i], source[i]);
      __syncthreads();
    }
  }
}

/// A block's thread 0 puts and signals, its right neighbour's compares and answers.
__global__ void put_signal(Findings* findings, Memory m, int me, int right, int left, int round) {
  if (threadIdx.x != 0) return;
  const int block = blockIdx.x, share = kWords / gridDim.x;
  uint64_t* const dest = m.dest + block * share;
  shmem_putmem_signal_nbi(dest, m.source + block * share, share * 8, &m.signals[block], round, SHMEM_SIGNAL_SET, right);
  EXPECT_EQ(shmem_signal_wait_until(&m.signals[block], SHMEM_CMP_GE, round), round);
  for (int i = 0; i < share; ++i) EXPECT_EQ(dest[i], value_of(left, block * share + i, round));
  // Nobody sends the next one before its target has read this one.
  shmem_uint64_atomic_add(&m.signals[kBlocks + block], 1, left);
  shmem_uint64_wait_until(&m.signals[kBlocks + block], SHMEM_CMP_GE, static_cast<uint64_t>(round));
  shmem_quiet();
}

/// All threads of all PEs add to words of PE 0, by each way there is.
__global__ void add_all(Memory m, int npes) {
  shmem_uint64_atomic_inc(&m.sums[0], 0);
  shmem_uint64_atomic_add(&m.sums[1], 3, npes - 1);
  if (threadIdx.x % 32 == 0) shmem_uint64_atomic_fetch_add(&m.sums[2], 1, 0);
  shmem_signal_add(&m.sums[3], 2, 0);
  shmem_quiet();
}

/// After `all` threads, over all PEs and rounds, have added.
__global__ void check_sums(Findings* findings, Memory m, int npes, uint64_t all) {
  EXPECT_EQ(shmem_uint64_atomic_fetch(&m.sums[0], 0), all);
  EXPECT_EQ(shmem_uint64_atomic_fetch(&m.sums[1], npes - 1), 3 * all);
  EXPECT_EQ(shmem_uint64_atomic_fetch(&m.sums[2], 0), all / 32);
  EXPECT_EQ(shmem_uint64_g(&m.sums[3], 0), 2 * all);
}

/// Words that only this node updates, by block and by context, and words that are only set, by everybody.
__global__ void update_declared(uint64_t* node_only, uint64_t* set_only, uint64_t* plain, shmem_ctx_t context, int me,
                                int npes, int node_npes) {
  const int first = me / node_npes * node_npes;
  for (int pe = first; pe < first + node_npes; ++pe) {
    shmem_uint64_atomic_inc(&node_only[0], pe);
    shmem_signal_add(&node_only[1], 2, pe);
    shmem_ctx_uint64_atomic_fetch_add(context, &plain[1], 3, pe);
  }
  shmem_uint64_atomic_inc(&plain[0], 0);
  for (int pe = 0; pe < npes; ++pe) shmem_signal_set(&set_only[me], 7, pe);
  shmem_quiet();
}

/// After `updaters` threads of each PE have.
__global__ void check_declared(Findings* findings, uint64_t* node_only, uint64_t* set_only, uint64_t* plain, int me,
                               int npes, int node_npes, uint64_t updaters) {
  EXPECT_EQ(shmem_uint64_atomic_fetch(&node_only[0], me), updaters * node_npes);
  EXPECT_EQ(shmem_signal_fetch(&node_only[1]), 2 * updaters * node_npes);
  EXPECT_EQ(shmem_uint64_atomic_fetch(&plain[1], me), 3 * updaters * node_npes);
  EXPECT_EQ(shmem_uint64_atomic_fetch(&plain[0], 0), updaters * npes);
  for (int pe = 0; pe < npes; ++pe) EXPECT_EQ(shmem_signal_fetch(&set_only[pe]), 7);
}

/// Reduces by packets and, where members are mapped, by slices; else through rooms. Also in place, which takes rooms
/// everywhere.
__global__ void deal_sums_out(Findings* findings, uint64_t* dest, uint64_t* source, int me, int npes) {
  for (const int n : {5, 1000}) {
    for (const bool in_place : {false, true}) {
      uint64_t* const into = in_place ? source + me * n : dest;
      for (int i = threadIdx.x; i < npes * n; i += blockDim.x) source[i] = value_of(me, i, n);
      __syncthreads();
      EXPECT_EQ(shmemx_uint64_sum_reducescatter_block(SHMEM_TEAM_WORLD, into, source, n), 0);
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
        uint64_t sum = 0;
        for (int pe = 0; pe < npes; ++pe) sum += value_of(pe, me * n + i, n);
        EXPECT_EQ(into[i], sum);
      }
      shmemx_barrier_all_block();  // nobody reads the sources any more
    }
  }
}

__global__ void values_in_order(Findings* findings, Memory m, int right) {
  uint64_t* const word = &m.dest[blockIdx.x];
  for (uint64_t i = 1; i <= 100; ++i) {
    shmem_uint64_p(word, 2 * i, right);
    shmem_fence();
    shmem_uint64_p(word, 2 * i + 1, right);
    shmem_quiet();
    EXPECT_EQ(shmem_uint64_g(word, right), 2 * i + 1);
  }
}

/// More blocks than fit, in turn: those that run fill the GPU and wait for a word that only another PE sets.
__global__ void wait_for_neighbour(Findings* findings, Memory m, int right, uint64_t round) {
  if (blockIdx.x == 0 && threadIdx.x == 0) shmem_signal_set(&m.signals[2 * kBlocks], round, right);
  EXPECT_EQ(shmem_signal_wait_until(&m.signals[2 * kBlocks], SHMEM_CMP_GE, round), round);
}

void declared_memory(Job& job) {
  const int node_npes = shmem_team_n_pes(SHMEM_TEAM_SHARED);
  const Updaters grid(job);
  const size_t n = static_cast<size_t>(job.npes) + 2;
  auto* const node_only = static_cast<uint64_t*>(shmem_malloc_with_hints(8 * n, SHMEMX_MALLOC_NODE_ONLY));
  auto* const set_only = static_cast<uint64_t*>(shmem_malloc_with_hints(8 * n, SHMEMX_MALLOC_SET_ONLY));
  auto* const plain = static_cast<uint64_t*>(shmem_malloc(8 * n));
  for (uint64_t* const words : {node_only, set_only, plain}) clear<<<1, 32>>>(words, static_cast<int>(n));
  CUDA_MUST(cudaDeviceSynchronize());
  shmem_ctx_t context = SHMEM_CTX_INVALID;
  shmem_ctx_create(SHMEMX_CTX_NODE_ONLY, &context);
  job.run("declared memory beside other", [&](Findings*) {
    update_declared<<<grid.blocks, grid.threads>>>(node_only, set_only, plain, context, job.me, job.npes, node_npes);
  });
  job.run("sums of declared memory", [&](Findings* f) {
    check_declared<<<1, 1>>>(f, node_only, set_only, plain, job.me, job.npes, node_npes, grid.all());
  });
  shmem_ctx_destroy(context);
  for (uint64_t* const words : {node_only, set_only, plain}) shmem_free(words);
}

/// The program promises that the sources of puts were published before: the data is as new as that of puts which
/// publish it.
void published(Job& job, const Memory& m, int right, int left) {
  shmem_ctx_t context = SHMEM_CTX_INVALID;
  shmem_ctx_create(SHMEMX_CTX_PUBLISHED, &context);
  for (int round = 30; round < 35; ++round) {
    fill<<<32, 256>>>(m.source, kWords, job.me, round);
    job.run("puts of published memory",
            [&](Findings*) { put_published<<<1, kThreads>>>(m.dest, m.source, context, right); });
    job.run("what they brought", [&](Findings* f) { check_published<<<1, 1>>>(f, m.dest, left, round); });
  }
  shmem_ctx_destroy(context);
}

}  // namespace

int main() {
  Job job;
  const int me = job.me, npes = job.npes, right = (me + 1) % npes, left = (me + npes - 1) % npes;
  Memory m{};
  for (uint64_t** const words : {&m.source, &m.dest, &m.back})
    *words = static_cast<uint64_t*>(shmem_calloc(kWords + 64, 8));
  m.signals = static_cast<uint64_t*>(shmem_calloc(2 * kBlocks + 1, 8));
  m.sums = static_cast<uint64_t*>(shmem_calloc(4, 8));
  fill<<<32, 256>>>(m.source, kWords, me, 1);
  CUDA_MUST(cudaDeviceSynchronize());

  job.run("queries", [&](Findings* f) { queries<<<1, 1>>>(f, me, npes); });
  job.run("put and get by a thread", [&](Findings* f) { put_and_get<By::thread><<<1, kThreads>>>(f, m, right); });
  job.run("put and get by a warp", [&](Findings* f) { put_and_get<By::warp><<<1, kThreads>>>(f, m, right); });
  job.run("put and get by a block", [&](Findings* f) { put_and_get<By::block><<<1, kThreads>>>(f, m, right); });
  for (int round = 1; round <= 20; ++round) {
    fill<<<32, 256>>>(m.source, kWords, me, round);
    job.run("put_signal", [&](Findings* f) { put_signal<<<kBlocks, 32>>>(f, m, me, right, left, round); });
  }
  const Updaters grid(job);
  const int rounds = 5;
  for (int round = 1; round <= rounds; ++round)
    job.run("atomics of all", [&](Findings*) { add_all<<<grid.blocks, grid.threads>>>(m, npes); });
  job.run("sums", [&](Findings* f) { check_sums<<<1, 1>>>(f, m, npes, uint64_t{1} * npes * grid.all() * rounds); });
  declared_memory(job);
  published(job, m, right, left);
  job.run("reducescatter", [&](Findings* f) { deal_sums_out<<<1, kThreads>>>(f, m.dest, m.source, me, npes); });
  reduce_halves(job);
  clear<<<32, 256>>>(m.dest, kWords);
  CUDA_MUST(cudaDeviceSynchronize());
  job.run("values in order", [&](Findings* f) { values_in_order<<<kBlocks, 1>>>(f, m, right); });
  for (uint64_t round = 1; round <= 5; ++round)
    job.run("waits that fill the GPU", [&](Findings* f) { wait_for_neighbour<<<2000, 1024>>>(f, m, right, round); });

  for (uint64_t* const words : {m.source, m.dest, m.back, m.signals, m.sums}) shmem_free(words);
  return job.end();
}

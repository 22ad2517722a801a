// SPDX-License-Identifier: BSD-3-Clause
// Grids and blocks of three dimensions, shared memory, and lanes of a warp that call together: each PE sends to its
// right neighbour and to its left one.
#include "tests/gpu/multi_gpu/gpu_pes.h"

using namespace railshmem::multi;

namespace {

constexpr int kBlocks = 2 * 3 * 2, kThreads = 4 * 3 * 5, kAll = kBlocks * kThreads;
constexpr int kRows = 6, kColumns = 16, kTile = kRows * kColumns, kShare = 100;

__device__ int thread_number() {
  return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}
__device__ int block_number() {
  return static_cast<int>(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
}
__device__ int value_of(int pe, int i) {
  return 100000 * (pe + 1) + i;
}

/// Every thread sends one value and takes one: the lanes of a warp come together, even ones for another PE than odd
/// ones.
__global__ void single_values(int* from_left, int* from_right, int* count, int me, int npes) {
  const int i = thread_number() + kThreads * block_number();
  const int right = (me + 1) % npes, left = (me + npes - 1) % npes;
  if (i % 2 == 0)
    shmem_int_p(&from_left[i], value_of(me, i), right);
  else
    shmem_int_p(&from_right[i], value_of(me, i), left);
  shmem_int_atomic_add(&count[thread_number()], 1, right);
  shmem_quiet();
}
__global__ void check_single_values(Findings* findings, const int* from_left, const int* from_right, const int* count,
                                    int me, int npes) {
  const int i = thread_number() + kThreads * block_number();
  const int right = (me + 1) % npes, left = (me + npes - 1) % npes;
  EXPECT_EQ(from_left[i], i % 2 == 0 ? value_of(left, i) : 0);
  EXPECT_EQ(from_right[i], i % 2 == 0 ? 0 : value_of(right, i));
  EXPECT_EQ(count[thread_number()], kBlocks);
}

/// All threads of a block, and all of a warp, send together. The last warp of a block is not full.
__global__ void shares(int* dest, int* dest_of_warps, const int* source, int me, int npes) {
  const int right = (me + 1) % npes, block = block_number();
  shmemx_int_put_block(&dest[block * kShare], &source[block * kShare], kShare, right);
  const int warp = thread_number() / 32, half = kShare / 2;
  shmemx_int_put_warp(&dest_of_warps[block * kShare + warp * half], &source[block * kShare + warp * half], half, right);
  if (thread_number() % 32 == 0) shmem_quiet();
}
__global__ void fill(int* source, int me) {
  for (int i = thread_number() + kThreads * block_number(); i < kBlocks * kShare; i += kAll)
    source[i] = value_of(me, i);
}
__global__ void check_shares(Findings* findings, const int* dest, const int* dest_of_warps, int me, int npes) {
  const int left = (me + npes - 1) % npes;
  for (int i = thread_number() + kThreads * block_number(); i < kBlocks * kShare; i += kAll) {
    EXPECT_EQ(dest[i], value_of(left, i));
    EXPECT_EQ(dest_of_warps[i], value_of(left, i));
  }
}

/// Puts from shared memory of both kinds, and a get into it.
__global__ void tiles(Findings* findings, int* dest, int* turned, int* source, int me, int npes) {
  __shared__ int tile[kRows][kColumns];
  extern __shared__ int column_by_column[];
  const int block = block_number(), right = (me + 1) % npes;
  for (int i = thread_number(); i < kTile; i += kThreads) {
    tile[i / kColumns][i % kColumns] = value_of(me, block * kTile + i);
    column_by_column[i % kColumns * kRows + i / kColumns] = value_of(me, block * kTile + i);
  }
  __syncthreads();
  if (thread_number() == 0) {
    shmem_int_put(&dest[block * kTile], &tile[0][0], kTile, right);
    shmem_int_put(&turned[block * kTile], column_by_column, kTile, right);
    shmem_int_get(&tile[0][0], &source[block * kShare], kTile, right);
    shmem_quiet();
  }
  __syncthreads();
  for (int i = thread_number(); i < kTile; i += kThreads)
    EXPECT_EQ(tile[i / kColumns][i % kColumns], value_of(right, block * kShare + i));
}
__global__ void check_tiles(Findings* findings, const int* dest, const int* turned, int me, int npes) {
  const int left = (me + npes - 1) % npes, block = block_number();
  for (int i = thread_number(); i < kTile; i += kThreads) {
    EXPECT_EQ(dest[block * kTile + i], value_of(left, block * kTile + i));
    EXPECT_EQ(turned[block * kTile + i % kColumns * kRows + i / kColumns], value_of(left, block * kTile + i));
  }
}

int* zeroed(int n) {
  return static_cast<int*>(shmem_calloc(static_cast<size_t>(n), sizeof(int)));
}

}  // namespace

int main() {
  Job job;
  const dim3 grid(2, 3, 2), block(4, 3, 5);
  int* const from_left = zeroed(kAll);
  int* const from_right = zeroed(kAll);
  int* const count = zeroed(kThreads);
  job.run("values of single threads",
          [&](Findings*) { single_values<<<grid, block>>>(from_left, from_right, count, job.me, job.npes); });
  job.run("the values that came", [&](Findings* f) {
    check_single_values<<<grid, block>>>(f, from_left, from_right, count, job.me, job.npes);
  });
  int* const source = zeroed(kBlocks * kShare);
  int* const dest = zeroed(kBlocks * kShare);
  int* const dest_of_warps = zeroed(kBlocks * kShare);
  job.run("fill", [&](Findings*) { fill<<<grid, block>>>(source, job.me); });
  job.run("puts by block and warp",
          [&](Findings*) { shares<<<grid, block>>>(dest, dest_of_warps, source, job.me, job.npes); });
  job.run("what came from blocks and warps",
          [&](Findings* f) { check_shares<<<grid, block>>>(f, dest, dest_of_warps, job.me, job.npes); });
  int* const turned = zeroed(kBlocks * kTile);
  job.run("shared memory",
          [&](Findings* f) { tiles<<<grid, block, kTile * sizeof(int)>>>(f, dest, turned, source, job.me, job.npes); });
  job.run("what came from shared memory",
          [&](Findings* f) { check_tiles<<<grid, block>>>(f, dest, turned, job.me, job.npes); });
  for (int* const memory : {from_left, from_right, count, source, dest, dest_of_warps, turned}) shmem_free(memory);
  if (job.me == 0) std::printf("shapes: %d PEs, PE 0: %d failures\n", job.npes, job.failures);
  return job.end();
}

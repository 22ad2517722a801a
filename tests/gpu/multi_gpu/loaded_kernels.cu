// SPDX-License-Identifier: BSD-3-Clause
// Kernels that loaded_kernels.cpp compiles and loads while it runs.
#include <shmem.h>
#include <shmemx.h>

/// Words of each PE: [0], [1] by the left neighbour's puts, [2] by its additions, [3] this PE's own; seen: two words.
extern "C" __global__ void ring(uint64_t* words, uint64_t* signal, uint64_t* seen, int right, uint64_t round) {
  const auto mine = static_cast<uint64_t>(shmem_my_pe()) * 1000 + round;
  words[3] = mine;
  shmem_uint64_p(words, mine, right);
  shmem_fence();
  shmem_put_signal_nbi(words + 1, words + 3, 1, signal, round, SHMEM_SIGNAL_SET, right);
  seen[1] = shmem_uint64_atomic_fetch_add(words + 2, 1, right);
  shmem_quiet();
  shmem_signal_wait_until(signal, SHMEM_CMP_GE, round);
  seen[0] = words[0] == words[1] ? words[1] : ~uint64_t{0};
}

/// One block.
extern "C" __global__ void sum(int64_t* dest, const int64_t* source, size_t n) {
  shmemx_int64_sum_reduce_block(SHMEM_TEAM_WORLD, dest, source, n);
}

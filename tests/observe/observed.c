// SPDX-License-Identifier: BSD-3-Clause
//
// Makes a known number of calls of every kind; check_observed.py compares them with what the library recorded.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRounds = 50, kWords = 100 };

static uint64_t flag;
static long counter;
static long lock;
static long sums[4];
static long values[kWords];

int main(int argc, char** argv) {
  shmem_init();
  const int me = shmem_my_pe();
  const int npes = shmem_n_pes();
  const int next = (me + 1) % npes;
  long mine[kWords] = {0};
  long* block = shmem_malloc(sizeof mine);
  shmem_barrier_all();
  for (int i = 0; i < kRounds; ++i) {
    shmem_long_put(block, mine, kWords, next);
    shmem_long_get(mine, block, kWords, next);
    shmem_long_p(values, i, next);
    shmem_long_atomic_inc(&counter, next);
    shmem_fence();
    shmem_putmem_signal(values, mine, 16, &flag, 1, SHMEM_SIGNAL_ADD, next);
    shmem_signal_add(&flag, 1, next);
    shmem_quiet();
    shmem_signal_wait_until(&flag, SHMEM_CMP_GE, 2 * ((uint64_t)i + 1));
    shmem_sync_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sums, values, 4);
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
  }
  // With an argument the job ends early: records so far must survive.
  if (argc > 1 && me == 0) shmem_global_exit(5);
  shmem_free(block);
  shmem_finalize();
  (void)argv;
  return 0;
}

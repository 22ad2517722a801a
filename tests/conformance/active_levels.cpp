// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives of active sets, and locks, between PEs of different thread levels: all PEs must take one way.
#include "active_sets.h"

namespace {

void run() {
  const int npes = shmem_n_pes();
  const ActiveSet world = make_active_set(0, 0, npes);
  const SyncArrays psync(2);
  auto* const dest = static_cast<long*>(check_alloc(2 * sizeof(long)));
  auto* const source = static_cast<long*>(check_alloc(sizeof(long)));
  auto* const lock = static_cast<long*>(check_alloc(sizeof(long)));
  *lock = 0;
  shmem_sync_all();
  for (long round = 0; round < 20; ++round) {
    *source = shmem_my_pe() + round;
    long* const sum = &dest[round % 2];
    shmem_long_sum_to_all(sum, source, 1, SET_ARGUMENTS(world), source, psync[0]);
    CHECK_EQ(*sum, npes * (npes - 1L) / 2 + npes * round);
    shmem_set_lock(lock);
    shmem_clear_lock(lock);
    shmem_barrier(SET_ARGUMENTS(world), psync[1]);
  }
  psync.check_all();
}

}  // namespace

int main() {
  check_prepare("active_levels");
  // Which PE it is shows only afterwards, so the odd one out is chosen in a second life of the library.
  shmem_init();
  const int before = shmem_my_pe();
  shmem_finalize();
  const int level = before == 0 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE;
  int granted = -1;
  CHECK_EQ(shmem_init_thread(level, &granted), 0);
  CHECK_EQ(granted, level);
  run();
  return check_end();
}

// SPDX-License-Identifier: BSD-3-Clause
//
// Pipeline: PE 0 produces blocks, every further PE transforms what it receives and sends it on, the last one checks.
// A put with signal carries each block together with its announcement; credits going back bound what is in flight.
#include <shmem.h>
#include <stdio.h>

enum { kBlocks = 200, kWords = 4096, kSlots = 4 };

static long slots[kSlots][kWords];  // where blocks arrive
static uint64_t arrived[kSlots];    // number of the block in each slot, counted from 1
static uint64_t credits;            // blocks that the next PE has taken in

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int last = shmem_n_pes() - 1;
  static long outgoing[kWords];
  long wrong = 0;

  for (uint64_t block = 1; block <= kBlocks; ++block) {
    const int slot = (int)(block % kSlots);
    // One's input: made up on PE 0, received on all others.
    if (me > 0) shmem_signal_wait_until(&arrived[slot], SHMEM_CMP_EQ, block);
    for (int i = 0; i < kWords; ++i) outgoing[i] = me == 0 ? (long)block * i : slots[slot][i] + 1;
    // The slot is free again.
    if (me > 0) shmem_uint64_atomic_inc(&credits, me - 1);

    if (me < last) {
      // Never more blocks on the way than the receiver has slots.
      if (block > kSlots) shmem_uint64_wait_until(&credits, SHMEM_CMP_GE, block - kSlots);
      shmem_long_put_signal(slots[slot], outgoing, kWords, &arrived[slot], block, SHMEM_SIGNAL_SET, me + 1);
    } else {
      for (int i = 0; i < kWords; ++i) wrong += outgoing[i] != (long)block * i + me;
    }
  }
  shmem_barrier_all();

  if (me == last)
    printf("pipeline: %d blocks of %zu bytes through %d PEs, %ld words wrong: %s\n", kBlocks, sizeof outgoing, last + 1,
           wrong, wrong == 0 ? "passed" : "FAILED");
  shmem_finalize();
  return wrong == 0 ? 0 : 1;
}

// SPDX-License-Identifier: BSD-3-Clause
//
// barrier_all and sync_all, thousands of times: nobody leaves before the last one has come, and a barrier delivers.
#include "check.h"

static int me, npes;

/// Keeps this PE busy without a call, so that arrivals come in every order.
static void dawdle(int round) {
  if ((round * 7 + me) % (npes + 3) != 0) return;
  const double end = check_seconds() + 50e-6;
  while (check_seconds() < end) {
  }
}

/// Each PE says that it has entered, on itself; after the synchronisation everyone must have.
static void test_nobody_leaves_early(long* entered, int rounds, void (*synchronise)(void)) {
  shmem_long_atomic_set(entered, 0, me);
  shmem_barrier_all();
  for (long r = 1; r <= rounds; ++r) {
    dawdle((int)r);
    shmem_long_atomic_set(entered, r, me);
    shmem_quiet();  // the word, though this PE's own, was written by a remote operation
    synchronise();
    for (int i = 1; i < npes; i += 1 + npes / 4) {
      const int pe = (me + i) % npes;
      const long theirs = shmem_long_atomic_fetch(entered, pe);
      CHECK(theirs >= r, "PE %d had entered %ld, but round %ld was left", pe, theirs, r);
    }
  }
  shmem_barrier_all();
}

/// Puts before a barrier are there after it, small and large, blocking or not.
static void test_delivery(long* slots, unsigned char* block, int rounds) {
  enum { kBytes = 3000 };
  static unsigned char source[kBytes];
  const int right = (me + 1) % npes, left = (me + npes - 1) % npes;
  for (long r = 1; r <= rounds; ++r) {
    for (int pe = 0; pe < npes; ++pe) {
      if (r % 2)
        shmem_long_p(slots + me, r, pe);
      else
        shmem_long_put_nbi(slots + me, &r, 1, pe);
    }
    check_fill(source, kBytes, (unsigned)(me + r));
    shmem_putmem_nbi(block, source, kBytes, right);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; ++pe) CHECK_EQ(slots[pe], r);
    CHECK_PATTERN(block, kBytes, (unsigned)(left + r));
    shmem_sync_all();  // all have read before anyone writes again
  }
  shmem_barrier_all();
}

/// Plain stores to symmetric memory before sync_all are seen by gets after it.
static void test_stores(long* word, int rounds) {
  const int right = (me + 1) % npes;
  for (long r = 1; r <= rounds; ++r) {
    *word = me * 100000L + r;
    shmem_sync_all();
    CHECK_EQ(shmem_long_g(word, right), right * 100000L + r);
    shmem_sync_all();
  }
  shmem_barrier_all();
}

int main(void) {
  check_begin("barrier");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  const int rounds = check_rounds(npes > 2 ? 300 : 1000);  // more PEs than cores: every round costs time slices
  long* words = check_alloc(((size_t)npes + 1) * sizeof(long));
  unsigned char* block = check_alloc(3000);
  check_step("barrier_all holds everyone");
  test_nobody_leaves_early(words, rounds, shmem_barrier_all);
  check_step("sync_all holds everyone");
  test_nobody_leaves_early(words, rounds, shmem_sync_all);
  check_step("barrier_all delivers");
  test_delivery(words, block, rounds);
  check_step("sync_all orders stores");
  test_stores(words, rounds);
  check_step("nothing but barriers");
  for (int r = 0; r < 5 * rounds; ++r) {
    shmem_barrier_all();
    if (r % 3 == 0) shmem_sync_all();
  }
  shmem_free(block);
  shmem_free(words);
  return check_end();
}

// SPDX-License-Identifier: BSD-3-Clause
//
// Locks between PEs: exclusion, order of arrival, test_lock, several locks, and a word that is zero again afterwards.
#include "check.h"

enum { kLocks = 5, kBlock = 1500 };

static int me, npes;
static long global_lock;
static long global_counter;

typedef struct {
  long lock[kLocks];
  long counter[kLocks];
  unsigned char block[kBlock];
  long arrived;       // PEs that went to queue
  long turns;         // entries of the log
  long gap;           // the longest of the log
  long log[1 << 14];  // who held the lock, one entry a turn
} Shared;

static void check_free(const long* lock) {
  shmem_barrier_all();
  CHECK_EQ(*lock, 0);
  shmem_barrier_all();
}

static void nap(double seconds) {
  const double end = check_seconds() + seconds;
  while (check_seconds() < end) usleep(500);
}

/// One PE after the other, and busy means busy.
static void test_one_holder(long* lock) {
  for (int holder = 0; holder < npes; ++holder) {
    if (me == holder) CHECK_EQ(shmem_test_lock(lock), 0);
    shmem_barrier_all();
    if (me != holder) CHECK_EQ(shmem_test_lock(lock), 1);
    shmem_barrier_all();
    if (me == holder) shmem_clear_lock(lock);
    check_free(lock);
    if (me == holder) {
      shmem_set_lock(lock);
      shmem_clear_lock(lock);
      CHECK_EQ(shmem_test_lock(lock), 0);
      shmem_clear_lock(lock);
    }
    check_free(lock);
  }
}

/// A counter that only exclusion protects. `take` says how to get the lock.
static void count_under_lock(long* lock, long* counter, int owner, int rounds, void (*take)(long*)) {
  for (int r = 0; r < rounds; ++r) {
    take(lock);
    const long seen = shmem_long_g(counter, owner);
    static long next;  // read by put_nbi until clear_lock has completed it
    next = seen + 1;
    if (r % 2)
      shmem_long_put_nbi(counter, &next, 1, owner);
    else
      shmem_long_p(counter, seen + 1, owner);
    shmem_clear_lock(lock);
  }
}

static void take_waiting(long* lock) {
  shmem_set_lock(lock);
}
static void take_trying(long* lock) {
  while (shmem_test_lock(lock) != 0) {
  }
}

static void test_exclusion(long* lock, long* counter, int rounds, void (*take)(long*)) {
  const int owner = npes - 1;
  const long before = shmem_long_g(counter, owner);
  shmem_barrier_all();
  count_under_lock(lock, counter, owner, rounds, take);
  shmem_barrier_all();
  CHECK_EQ(shmem_long_g(counter, owner), before + (long)npes * rounds);
  check_free(lock);
}

/// Blocks are written whole under the lock: a reader under the lock never sees a mixture.
static void test_blocks(Shared* shared, int rounds) {
  static unsigned char mine[kBlock];
  shmem_barrier_all();
  memset(shared->block, 7, kBlock);
  shmem_barrier_all();
  for (int r = 0; r < rounds; ++r) {
    shmem_set_lock(&shared->lock[0]);
    shmem_getmem(mine, shared->block, kBlock, 0);
    CHECK_BYTES(mine, kBlock, mine[0]);
    memset(mine, (me * 31 + r) & 255, kBlock);
    shmem_putmem_nbi(shared->block, mine, kBlock, 0);
    shmem_clear_lock(&shared->lock[0]);
  }
  check_free(&shared->lock[0]);
}

/// Different locks at once: each PE holds two, taken in ascending order.
static void test_several(Shared* shared, int rounds) {
  long before[kLocks];
  for (int k = 0; k < kLocks; ++k) before[k] = shmem_long_g(&shared->counter[k], k % npes);
  shmem_barrier_all();
  for (int r = 0; r < rounds; ++r) {
    const int low = (me + r) % (kLocks - 1), high = low + 1;
    shmem_set_lock(&shared->lock[low]);
    count_under_lock(&shared->lock[high], &shared->counter[high], high % npes, 1, take_waiting);
    shmem_clear_lock(&shared->lock[low]);
  }
  shmem_barrier_all();
  long sum = 0;
  for (int k = 0; k < kLocks; ++k) sum += shmem_long_g(&shared->counter[k], k % npes) - before[k];
  CHECK_EQ(sum, (long)npes * rounds);
  for (int k = 0; k < kLocks; ++k) check_free(&shared->lock[k]);
}

/// Adds this PE to the log on PE 0; under the lock.
static void write_log(Shared* shared) {
  const long turn = shmem_long_g(&shared->turns, 0);
  if (turn < (long)(sizeof shared->log / sizeof shared->log[0])) shmem_long_p(&shared->log[turn], me, 0);
  shmem_long_p(&shared->turns, turn + 1, 0);
}

/// PEs that come one well after the other are served in that order.
static void test_order(Shared* shared) {
  const double kApart = 0.05;  // more than any PE takes from saying that it comes to being in the queue
  const int late = npes < 8 ? npes : 8;
  shmem_barrier_all();
  shared->turns = shared->arrived = 0;
  shmem_barrier_all();
  if (me == 0) {
    shmem_set_lock(&shared->lock[1]);
    shmem_barrier_all();
    for (int pe = 1; pe < late; ++pe) {
      shmem_long_p(&shared->arrived, 1, late - pe);
      nap(kApart);
    }
    shmem_clear_lock(&shared->lock[1]);
  } else {
    shmem_barrier_all();
    if (me < late) {
      shmem_long_wait_until(&shared->arrived, SHMEM_CMP_EQ, 1);
      shmem_set_lock(&shared->lock[1]);
      write_log(shared);
      shmem_clear_lock(&shared->lock[1]);
    }
  }
  shmem_barrier_all();
  if (me == 0)
    for (int i = 0; i < late - 1; ++i) CHECK_EQ(shared->log[i], late - 1 - i);
  check_free(&shared->lock[1]);
}

/// Turns of others between two of one PE, at most.
static long longest_gap(const Shared* shared, int rounds) {
  CHECK_EQ(shared->turns, (long)npes * rounds);
  long longest = 0;
  for (int pe = 0; pe < npes; ++pe) {
    long last = 0, count = 0;
    for (long i = 0; i < shared->turns; ++i) {
      if (shared->log[i] != pe) continue;
      if (count > 0 && i - last > longest) longest = i - last;
      last = i;
      ++count;
    }
    CHECK_EQ(count, rounds);
  }
  return longest;
}

/// Everybody comes back at once, again and again: nobody waits much longer than a turn of all others. A PE that loses
/// the CPU between clearing the lock and asking again has no place in the queue; that does not happen time after time.
static void test_fairness(Shared* shared, int rounds) {
  enum { kTries = 4 };
  const long limit = 10L * npes;
  long gap = limit + 1;
  for (int i = 0; i < kTries && gap > limit; ++i) {
    shmem_barrier_all();
    shared->turns = 0;
    shmem_barrier_all();
    for (int r = 0; r < rounds; ++r) {
      shmem_set_lock(&shared->lock[2]);
      write_log(shared);
      shmem_clear_lock(&shared->lock[2]);
    }
    shmem_barrier_all();
    if (me == 0) shared->gap = longest_gap(shared, rounds);
    shmem_barrier_all();
    gap = shmem_long_g(&shared->gap, 0);
    check_free(&shared->lock[2]);
  }
  CHECK(gap <= limit, "in each of %d tries some PE saw more than %ld turns of others between two of its own, last %ld",
        kTries, limit, gap);
}

int main(void) {
  check_begin("lock");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  const int rounds = npes > 8 ? 8 : check_rounds(400);
  Shared* shared = shmem_calloc(1, sizeof *shared);
  CHECK(shared != NULL, "no memory for %zu bytes", sizeof *shared);
  check_step("one holder");
  test_one_holder(&shared->lock[3]);
  check_step("exclusion with set_lock");
  test_exclusion(&shared->lock[0], &shared->counter[0], rounds, take_waiting);
  check_step("exclusion with test_lock");
  test_exclusion(&shared->lock[4], &shared->counter[4], rounds, take_trying);
  check_step("exclusion with both");
  test_exclusion(&shared->lock[4], &shared->counter[4], rounds, me % 2 ? take_trying : take_waiting);
  if (check_globals()) {
    check_step("a lock that is a global object");
    test_exclusion(&global_lock, &global_counter, rounds, take_waiting);
  }
  check_step("blocks");
  test_blocks(shared, rounds);
  check_step("several locks");
  test_several(shared, rounds);
  check_step("order of arrival");
  test_order(shared);
  check_step("fairness");
  test_fairness(shared, npes > 8 ? 20 : rounds);
  shmem_free(shared);
  return check_end();
}

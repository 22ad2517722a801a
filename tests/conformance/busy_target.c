// SPDX-License-Identifier: BSD-3-Clause
//
// A target that computes: PE 0 makes no call of the library while all others put, get, update and signal there. Their
// operations must come to an end meanwhile, which PE 0 sees by plain loads of its own memory.
#include "check.h"

enum { kOps = 200, kBlock = 200000 };
static const double kLeastSeconds = 1.0;  // the loop lasts that long even when everything has arrived
static const double kMostSeconds = 12.0;  // without progress the loop would never see the last update

static long global_count;

typedef struct {
  long done;  // PEs that are through
  long sum;   // by atomic_add
  uint64_t signals;
  long last;  // by p
  unsigned char block[kBlock];
} Shared;

/// Arithmetic until all `others` are done or the time is up; returns the seconds it took.
static double compute(const volatile Shared* shared, int others) {
  const double start = check_seconds();
  volatile double x = 1.0;
  for (;;) {
    for (int i = 0; i < 10000; ++i) x = x * 1.0000001 + 1e-9;
    const double seconds = check_seconds() - start;
    if ((shared->done == others && seconds > kLeastSeconds) || seconds > kMostSeconds) return seconds;
  }
}

static void bother(Shared* shared, int me, unsigned char* mine) {
  long old = 0;
  check_step("put and get of a target that computes");
  check_fill(mine, kBlock, 3);
  shmem_putmem(shared->block, mine, kBlock, 0);  // every PE writes these bytes, all alike
  shmem_quiet();
  memset(mine, 0, kBlock);
  shmem_getmem(mine, shared->block, kBlock, 0);
  CHECK_PATTERN(mine, kBlock, 3);
  check_step("atomics on a target that computes");
  for (int i = 0; i < kOps; ++i) {
    const long now = shmem_long_atomic_fetch_add(&shared->sum, 1, 0);
    CHECK(i == 0 || now > old, "fetched %ld after %ld", now, old);
    old = now;
    shmem_long_atomic_inc(&global_count, 0);
  }
  check_step("signals to a target that computes");
  for (int i = 0; i < kOps; ++i)
    shmem_putmem_signal(shared->block, mine, 100, &shared->signals, 1, SHMEM_SIGNAL_ADD, 0);
  check_step("p to and g from a target that computes");
  shmem_long_p(&shared->last, 42, 0);
  shmem_quiet();
  CHECK_EQ(shmem_long_g(&shared->last, 0), 42);
  CHECK(shmem_uint64_atomic_fetch(&shared->signals, 0) >= kOps, "PE %d: its own signals are missing", me);
  shmem_long_atomic_inc(&shared->done, 0);
  check_step("quiet for a target that computes");
  shmem_quiet();
}

int main(void) {
  check_begin("busy_target");
  const int me = shmem_my_pe(), others = shmem_n_pes() - 1;
  if (others == 0) return check_skip("one PE has nobody to be busy for");
  Shared* shared = shmem_calloc(1, sizeof(Shared));
  unsigned char* mine = malloc(kBlock);
  CHECK(shared != NULL && mine != NULL, "no memory for %zu bytes", sizeof(Shared));
  shmem_barrier_all();
  if (me == 0) {
    check_step("computing");
    const double seconds = compute(shared, others);
    CHECK(shared->done == others, "only %ld of %d PEs were through after %.1f s", shared->done, others, seconds);
    CHECK_EQ(shared->sum, (long)others * kOps);
    CHECK_EQ(shared->signals, (long)others * kOps);
    CHECK_EQ(shared->last, 42);
    CHECK_EQ(global_count, (long)others * kOps);
    CHECK_PATTERN(shared->block, kBlock, 3);
  } else {
    bother(shared, me, mine);
  }
  check_step("after the loop");
  shmem_barrier_all();
  free(mine);
  shmem_free(shared);
  return check_end();
}

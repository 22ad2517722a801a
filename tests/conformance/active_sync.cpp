// SPDX-License-Identifier: BSD-3-Clause
//
// shmem_barrier and shmem_sync over active sets: nobody leaves early, a barrier delivers, a pSync serves again.
#include "active_sets.h"

namespace {

int me, npes;
long global_psync[SHMEM_BARRIER_SYNC_SIZE];  // zero, which is SHMEM_SYNC_VALUE here; checked

using Synchronise = void (*)(int, int, int, long*);
constexpr Synchronise kCalls[] = {shmem_barrier, shmem_sync};  // shmem_sync is overloaded in C++

/// Each member says that it has entered, on itself; after the synchronisation every member must have.
void check_nobody_early(const ActiveSet& set, long* entered, long* psync, long round, Synchronise synchronise) {
  if ((round * 7 + me) % 5 == 0) usleep(20);
  shmem_long_atomic_set(entered, round, me);
  synchronise(SET_ARGUMENTS(set), psync);
  for (int r = 0; r < set.size; ++r) {
    const long theirs = shmem_long_atomic_fetch(entered, set.pe(r));
    CHECK(theirs >= round, "PE %d had entered %ld, but round %ld was left", set.pe(r), theirs, round);
  }
}

/// All sets one after the other, without anything between them: members of several sets are in different ones at a
/// time.
void test_all_sets(const char* what, Synchronise synchronise) {
  const std::vector<ActiveSet> sets = all_active_sets();
  const SyncArrays psync(sets.size());
  auto* entered = static_cast<long*>(shmem_calloc(sets.size(), sizeof(long)));
  for (long repeat = 1; repeat <= 3; ++repeat)
    for (size_t s = 0; s < sets.size(); ++s) {
      if (sets[s].rank < 0) continue;
      CHECK_STEP_SET(what, sets[s]);
      check_nobody_early(sets[s], entered + s, psync[s], repeat, synchronise);
    }
  psync.check_all();
  shmem_free(entered);
}

/// Thousands of times on one array, with disjoint sets at once: each class of PEs modulo the stride is a set.
void test_same_psync(long* psync, int log_stride, int rounds) {
  auto* entered = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  const int stride = 1 << log_stride, start = me % stride;
  const ActiveSet set = make_active_set(start, log_stride, (npes - start + stride - 1) / stride);
  CHECK_STEP_SET("the same pSync again and again", set);
  for (long r = 1; r <= rounds; ++r) check_nobody_early(set, entered, psync, r, kCalls[r % 3 == 0]);
  shmem_barrier_all();
  SyncArrays::check(psync);
  shmem_barrier_all();
  shmem_free(entered);
}

/// Puts before a barrier of the set are there after it.
void test_delivery(long* psync, int rounds) {
  const ActiveSet set = make_active_set(npes > 2 ? 1 : 0, 0, npes > 2 ? npes - 1 : npes);
  auto* slots = static_cast<long*>(shmem_calloc(static_cast<size_t>(npes), sizeof(long)));
  CHECK_STEP_SET("delivery", set);
  for (long r = 1; set.rank >= 0 && r <= rounds; ++r) {
    for (int i = 0; i < set.size; ++i) {
      if (r % 2)
        shmem_long_put_nbi(slots + set.rank, &r, 1, set.pe(i));
      else
        shmem_long_atomic_set(slots + set.rank, r, set.pe(i));
    }
    shmem_barrier(SET_ARGUMENTS(set), psync);
    for (int i = 0; i < set.size; ++i) CHECK_EQ(slots[i], r);
    shmem_sync(SET_ARGUMENTS(set), psync);  // all have read before anyone writes again
  }
  shmem_barrier_all();
  SyncArrays::check(psync);
  shmem_barrier_all();
  shmem_free(slots);
}

/// Plain stores to symmetric memory before a sync are seen by members after it.
void test_stores(long* psync, int rounds) {
  const ActiveSet set = make_active_set(0, npes > 2 ? 1 : 0, npes > 2 ? (npes + 1) / 2 : npes);
  auto* word = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  CHECK_STEP_SET("stores", set);
  for (long r = 1; set.rank >= 0 && r <= rounds; ++r) {
    *word = me * 100000L + r;
    shmem_sync(SET_ARGUMENTS(set), psync);
    const int right = set.pe((set.rank + 1) % set.size);
    CHECK_EQ(shmem_long_g(word, right), right * 100000L + r);
    shmem_sync(SET_ARGUMENTS(set), psync);
  }
  shmem_barrier_all();
  shmem_free(word);
}

}  // namespace

int main() {
  check_begin("active_sync");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  const int rounds = check_rounds(npes > 2 ? 200 : 1000);
  CHECK_EQ(SHMEM_SYNC_VALUE, 0);
  test_all_sets("barrier", shmem_barrier);
  test_all_sets("sync", shmem_sync);
  {
    const SyncArrays psync(1);
    for (int log_stride = 0; log_stride == 0 || 1 << log_stride < npes; ++log_stride)
      test_same_psync(psync[0], log_stride, rounds);
    test_delivery(psync[0], rounds);
    test_stores(psync[0], rounds);
  }
  if (check_globals()) {
    for (int log_stride = 0; log_stride == 0 || 1 << log_stride < npes; ++log_stride)
      test_same_psync(global_psync, log_stride, rounds);
    test_delivery(global_psync, rounds);
  }
  return check_end();
}

// SPDX-License-Identifier: BSD-3-Clause
//
// Atomic operations of all PEs on shared words: no update may be lost, no ticket given twice, no lock held twice.
#include <sched.h>

#include <algorithm>
#include <vector>

#include "check.h"
#include "type_lists.h"

namespace {

int me, npes;

/// Per type: everyone adds to everyone, by every adding operation.
template <class T>
struct Adders {
  void (*inc)(T*, int);
  void (*add)(T*, T, int);
  T (*fetch_inc)(T*, int);
  T (*fetch_add)(T*, T, int);
  void (*fetch_inc_nbi)(T*, T*, int);
  void (*fetch_add_nbi)(T*, T*, T, int);
};

template <class T>
void test_totals(const char* type, void* room, const Adders<T>& amo) {
  const int rounds = check_rounds(200);
  auto* word = static_cast<T*>(room);
  check_step("%s totals", type);
  *word = 0;
  shmem_barrier_all();
  std::vector<T> old(2 * static_cast<size_t>(npes));
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < npes; ++i) {
      const int pe = (me + i) % npes;
      amo.inc(word, pe);
      amo.add(word, 2, pe);
      amo.fetch_inc_nbi(&old[2 * i], word, pe);
      amo.fetch_add_nbi(&old[2 * i + 1], word, 4, pe);
      if (r % 4 == 0) {
        const T first = amo.fetch_inc(word, pe);
        const T second = amo.fetch_add(word, 3, pe);
        CHECK(second > first, "a later fetch gave %lld, an earlier one %lld", static_cast<long long>(second),
              static_cast<long long>(first));
      }
    }
    if (r % 16 == 15) shmem_quiet();
  }
  shmem_barrier_all();
  CHECK_EQ(*word, npes * (rounds * 8 + (rounds + 3) / 4 * 4));
  shmem_barrier_all();
}

/// fetch_inc on one word hands out each number exactly once.
void test_tickets(long* word, long* taken) {
  const int each = check_rounds(500);
  check_step("tickets");
  *word = 0;
  for (int i = 0; i < each * npes; ++i) taken[i] = 0;
  shmem_barrier_all();
  long last = -1;
  for (int i = 0; i < each; ++i) {
    const long ticket = shmem_long_atomic_fetch_inc(word, 0);
    CHECK(ticket > last && ticket < each * npes, "ticket %ld after %ld, %d given out", ticket, last, each * npes);
    last = ticket;
    shmem_long_atomic_inc(taken + ticket, 0);
  }
  shmem_barrier_all();
  if (me == 0)
    for (int i = 0; i < each * npes; ++i) CHECK_EQ(taken[i], 1);
  shmem_barrier_all();
}

/// A lock by compare_swap on the last PE; what it protects is read and written without atomics.
void test_lock(long* lock, long* guarded) {
  const int rounds = check_rounds(100);
  const int owner = npes - 1;
  check_step("lock by compare_swap");
  *lock = 0;
  *guarded = 0;
  shmem_barrier_all();
  for (int r = 0; r < rounds; ++r) {
    while (shmem_long_atomic_compare_swap(lock, 0, me + 1, owner) != 0)
      sched_yield();  // there may be fewer cores than PEs
    const long value = shmem_long_g(guarded, owner);
    shmem_long_p(guarded, value + 1, owner);
    shmem_quiet();
    CHECK_EQ(shmem_long_atomic_swap(lock, 0, owner), me + 1);
  }
  shmem_barrier_all();
  if (me == owner) CHECK_EQ(*guarded, static_cast<long>(rounds) * npes);
  shmem_barrier_all();
}

/// Everyone owns bits of one word: sets, flips and clears them; others' bits must survive.
void test_bits(uint64_t* word) {
  const uint64_t mine = uint64_t{0x0101010101010101} << (me % 8);
  check_step("bits of one word");
  *word = 0;
  shmem_barrier_all();
  if (me < 8) {
    for (int r = 0; r < check_rounds(200); ++r) {
      CHECK_EQ(shmem_uint64_atomic_fetch_or(word, mine, 0) & mine, 0);
      CHECK_EQ(shmem_uint64_atomic_fetch_xor(word, mine, 0) & mine, mine);
      shmem_uint64_atomic_xor(word, mine, 0);
      shmem_fence();  // without it the next one may pass
      CHECK_EQ(shmem_uint64_atomic_fetch_and(word, ~mine, 0) & mine, mine);
      CHECK_EQ(shmem_uint64_atomic_fetch(word, 0) & mine, 0);
    }
  }
  shmem_barrier_all();
  if (me == 0) CHECK_EQ(*word, 0);
  shmem_barrier_all();
}

/// What nbi forms fetched is there after quiet: many at once, distinct destinations.
void test_fetched_at_quiet(long* words) {
  const int n = check_quick() ? 500 : 2000;
  const int right = (me + 1) % npes;
  check_step("%d nbi fetches", n);
  for (int i = 0; i < n; ++i) words[i] = me * 100000L + i;
  shmem_barrier_all();
  std::vector<long> got(static_cast<size_t>(n), -1), swapped(got);
  for (int i = 0; i < n; ++i) shmem_long_atomic_fetch_nbi(&got[i], words + i, right);
  shmem_quiet();
  for (int i = 0; i < n; ++i) CHECK_EQ(got[i], right * 100000L + i);
  for (int i = 0; i < n; ++i) shmem_long_atomic_swap_nbi(&swapped[i], words + i, -i, right);
  shmem_barrier_all();
  for (int i = 0; i < n; ++i) CHECK_EQ(swapped[i], right * 100000L + i);
  for (int i = 0; i < n; ++i) CHECK_EQ(words[i], -i);
  shmem_barrier_all();
}

#define TOTALS(N, T)                                                                            \
  test_totals<T>(#N, words,                                                                     \
                 {shmem_##N##_atomic_inc, shmem_##N##_atomic_add, shmem_##N##_atomic_fetch_inc, \
                  shmem_##N##_atomic_fetch_add, shmem_##N##_atomic_fetch_inc_nbi, shmem_##N##_atomic_fetch_add_nbi});

}  // namespace

int main() {
  check_begin("amo_contention");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  auto* words = static_cast<long*>(check_alloc(sizeof(long) * static_cast<size_t>(std::max(2000, 502 * npes))));
  RAILSHMEM_FOR_AMO_TYPES(TOTALS)
  test_tickets(words, words + 1);
  test_lock(words, words + 1);
  test_bits(reinterpret_cast<uint64_t*>(words));
  test_fetched_at_quiet(words);
  shmem_free(words);
  return check_end();
}

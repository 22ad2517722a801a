// SPDX-License-Identifier: BSD-3-Clause
//
// wait_until and test on one word: every type, every comparison, true and false, met by put, p and atomics.
#include <limits>

#include "check.h"
#include "type_lists.h"

namespace {

int me, npes, right, left;

template <class T>
struct Wait {
  const char* name;
  void (*until)(T*, int, T);
  int (*test)(T*, int, T);
  void (*p)(T*, T, int);
};

constexpr int kComparisons[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};

template <class T>
bool holds(T a, int cmp, T b) {
  switch (cmp) {
    case SHMEM_CMP_EQ:
      return a == b;
    case SHMEM_CMP_NE:
      return a != b;
    case SHMEM_CMP_GT:
      return a > b;
    case SHMEM_CMP_GE:
      return a >= b;
    case SHMEM_CMP_LT:
      return a < b;
    default:
      return a <= b;
  }
}

/// All comparisons of values around zero and around the sign bit, against what the language says.
template <class T>
void test_comparisons(const Wait<T>& wait, T* word) {
  const T values[] = {0, 1, 2, static_cast<T>(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  for (const T a : values) {
    for (const T b : values) {
      for (const int cmp : kComparisons) {
        check_step("%s: is %lld (cmp %d) %lld?", wait.name, static_cast<long long>(a), cmp, static_cast<long long>(b));
        *word = a;
        CHECK_EQ(wait.test(word, cmp, b), holds(a, cmp, b));
        if (holds(a, cmp, b)) wait.until(word, cmp, b);  // returns at once
      }
    }
  }
}

/// A chain around all PEs: PE 0 begins, each waits for its left and passes on. A second lap for every comparison.
template <class T>
void test_chain(const Wait<T>& wait, T* word) {
  struct Link {
    int cmp;
    T start, passed, operand;
  };
  const Link links[] = {{SHMEM_CMP_EQ, 0, 9, 9}, {SHMEM_CMP_NE, 5, 6, 5}, {SHMEM_CMP_GT, 1, 4, 3},
                        {SHMEM_CMP_GE, 1, 4, 4}, {SHMEM_CMP_LT, 9, 2, 3}, {SHMEM_CMP_LE, 9, 3, 3}};
  for (const Link& link : links) {
    check_step("%s: chain, cmp %d", wait.name, link.cmp);
    *word = link.start;
    shmem_barrier_all();
    if (me == 0) wait.p(word, link.passed, right);
    wait.until(word, link.cmp, link.operand);
    CHECK_EQ(*word, link.passed);
    if (me != 0) wait.p(word, link.passed, right);
    shmem_barrier_all();
  }
}

/// test in a loop must see the update too, without any other call in between.
template <class T>
void test_polling(const Wait<T>& wait, T* word) {
  check_step("%s: polling with test", wait.name);
  *word = 0;
  shmem_barrier_all();
  wait.p(word, 3, left);
  while (!wait.test(word, SHMEM_CMP_EQ, 3)) {
  }
  shmem_barrier_all();
}

#define TEST(N, T)                                                                      \
  {                                                                                     \
    const Wait<T> wait = {#N, shmem_##N##_wait_until, shmem_##N##_test, shmem_##N##_p}; \
    test_comparisons<T>(wait, static_cast<T*>(room));                                   \
    test_chain<T>(wait, static_cast<T*>(room));                                         \
    test_polling<T>(wait, static_cast<T*>(room));                                       \
  }

/// Many PEs increment one word by atomics; the waiter sees the final count, and then all that they put before. Two
/// counts take turns, and quiet keeps a PE from being two rounds ahead, so that no count mixes rounds.
void test_counter(long* counts, long* slots) {
  const int rounds = check_rounds(200);
  check_step("counter of arrivals");
  counts[0] = counts[1] = 0;
  for (int i = 0; i < npes; ++i) slots[i] = 0;
  shmem_barrier_all();
  for (long r = 1; r <= rounds; ++r) {
    for (int pe = 0; pe < npes; ++pe) {
      shmem_long_p(slots + me, r, pe);
      shmem_fence();
      shmem_long_atomic_inc(counts + r % 2, pe);
    }
    shmem_quiet();
    shmem_long_wait_until(counts + r % 2, SHMEM_CMP_GE, (r + 1) / 2 * npes);
    for (int i = 0; i < npes; ++i) CHECK(slots[i] >= r, "slot %d holds %ld in round %ld", i, slots[i], r);
  }
  shmem_barrier_all();
  CHECK_EQ(counts[0] + counts[1], static_cast<long>(rounds) * npes);
  shmem_barrier_all();
}

}  // namespace

int main() {
  check_begin("wait");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  void* room = check_alloc(64 + 8 * static_cast<size_t>(npes));
  RAILSHMEM_FOR_AMO_TYPES(TEST)
  RAILSHMEM_FOR_OLD_P2P_TYPES(TEST)
  test_counter(static_cast<long*>(room), static_cast<long*>(room) + 2);
  shmem_free(room);
  return check_end();
}

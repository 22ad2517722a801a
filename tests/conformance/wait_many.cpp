// SPDX-License-Identifier: BSD-3-Clause
//
// wait and test on many words: all, any and some, one value or one per word, with words left out, empty sets, fairness.
#include <algorithm>
#include <vector>

#include "check.h"
#include "type_lists.h"

namespace {

int me, npes, right, left;

// clang-format off
template <class T>
struct Many {
  const char* name;
  void (*wait_all)(T*, size_t, const int*, int, T);
  size_t (*wait_any)(T*, size_t, const int*, int, T);
  size_t (*wait_some)(T*, size_t, size_t*, const int*, int, T);
  int (*test_all)(T*, size_t, const int*, int, T);
  size_t (*test_any)(T*, size_t, const int*, int, T);
  size_t (*test_some)(T*, size_t, size_t*, const int*, int, T);
  void (*wait_all_vector)(T*, size_t, const int*, int, const T*);
  size_t (*wait_any_vector)(T*, size_t, const int*, int, const T*);
  size_t (*wait_some_vector)(T*, size_t, size_t*, const int*, int, const T*);
  int (*test_all_vector)(T*, size_t, const int*, int, const T*);
  size_t (*test_any_vector)(T*, size_t, const int*, int, const T*);
  size_t (*test_some_vector)(T*, size_t, size_t*, const int*, int, const T*);
  void (*p)(T*, T, int);
};
#define MANY(N) {#N, shmem_##N##_wait_until_all, shmem_##N##_wait_until_any, shmem_##N##_wait_until_some, \
    shmem_##N##_test_all, shmem_##N##_test_any, shmem_##N##_test_some, shmem_##N##_wait_until_all_vector, \
    shmem_##N##_wait_until_any_vector, shmem_##N##_wait_until_some_vector, shmem_##N##_test_all_vector,   \
    shmem_##N##_test_any_vector, shmem_##N##_test_some_vector, shmem_##N##_p}
// clang-format on

constexpr size_t kN = 24;
constexpr size_t kNone = SIZE_MAX;

template <class T>
void test_empty_sets(const Many<T>& f, T* words) {
  int all_out[kN];
  std::fill_n(all_out, kN, 1);
  std::fill_n(words, kN, T{0});
  T values[kN] = {};
  size_t indices[kN] = {99};
  struct Set {
    size_t n;
    const int* status;
  };
  for (const Set& set : {Set{0, nullptr}, Set{0, all_out}, Set{kN, all_out}}) {
    check_step("%s: empty set of %zu", f.name, set.n);
    f.wait_all(words, set.n, set.status, SHMEM_CMP_EQ, 1);  // never true, yet it must return
    f.wait_all_vector(words, set.n, set.status, SHMEM_CMP_NE, values);
    CHECK_EQ(f.wait_any(words, set.n, set.status, SHMEM_CMP_EQ, 0), kNone);
    CHECK_EQ(f.wait_any_vector(words, set.n, set.status, SHMEM_CMP_EQ, values), kNone);
    CHECK_EQ(f.wait_some(words, set.n, indices, set.status, SHMEM_CMP_EQ, 0), 0);
    CHECK_EQ(f.wait_some_vector(words, set.n, indices, set.status, SHMEM_CMP_EQ, values), 0);
    CHECK_EQ(f.test_all(words, set.n, set.status, SHMEM_CMP_EQ, 1), 1);
    CHECK_EQ(f.test_all_vector(words, set.n, set.status, SHMEM_CMP_NE, values), 1);
    CHECK_EQ(f.test_any(words, set.n, set.status, SHMEM_CMP_EQ, 0), kNone);
    CHECK_EQ(f.test_any_vector(words, set.n, set.status, SHMEM_CMP_EQ, values), kNone);
    CHECK_EQ(f.test_some(words, set.n, indices, set.status, SHMEM_CMP_EQ, 0), 0);
    CHECK_EQ(f.test_some_vector(words, set.n, indices, set.status, SHMEM_CMP_EQ, values), 0);
    CHECK_EQ(indices[0], 99);  // nothing found, nothing written
  }
}

/// Words 3, 7 and 11 satisfied, 7 left out: what each test says, with NULL status as well.
template <class T>
void test_answers(const Many<T>& f, T* words) {
  check_step("%s: answers of test", f.name);
  int status[kN] = {};
  status[7] = 5;  // any nonzero value leaves a word out
  T values[kN];
  for (size_t i = 0; i < kN; ++i) {
    words[i] = static_cast<T>(i);
    values[i] = static_cast<T>(i % 4 == 3 && i < 12 ? i : i + 100);
  }
  size_t indices[kN];
  CHECK_EQ(f.test_some_vector(words, kN, indices, nullptr, SHMEM_CMP_EQ, values), 3);
  std::sort(indices, indices + 3);
  CHECK(indices[0] == 3 && indices[1] == 7 && indices[2] == 11, "%zu %zu %zu", indices[0], indices[1], indices[2]);
  CHECK_EQ(f.wait_some_vector(words, kN, indices, status, SHMEM_CMP_EQ, values), 2);
  std::sort(indices, indices + 2);
  CHECK(indices[0] == 3 && indices[1] == 11, "%zu %zu", indices[0], indices[1]);
  const size_t any = f.test_any_vector(words, kN, status, SHMEM_CMP_EQ, values);
  CHECK(any == 3 || any == 11, "test_any_vector gave %zu", any);
  CHECK_EQ(f.test_all_vector(words, kN, status, SHMEM_CMP_EQ, values), 0);
  CHECK_EQ(f.test_all_vector(words, kN, status, SHMEM_CMP_LE, values), 1);
  CHECK_EQ(f.test_all(words, kN, nullptr, SHMEM_CMP_LT, static_cast<T>(kN)), 1);
  CHECK_EQ(f.test_all(words, kN, nullptr, SHMEM_CMP_NE, static_cast<T>(7)), 0);
  CHECK_EQ(f.test_all(words, kN, status, SHMEM_CMP_NE, static_cast<T>(7)), 1);  // 7 is the one left out
  CHECK_EQ(f.test_any(words, kN, nullptr, SHMEM_CMP_EQ, static_cast<T>(9)), 9);
  CHECK_EQ(f.test_any(words, kN, status, SHMEM_CMP_EQ, static_cast<T>(7)), kNone);
  CHECK_EQ(f.test_some(words, kN, indices, status, SHMEM_CMP_GE, static_cast<T>(6)), kN - 7);
  CHECK_EQ(f.wait_any(words, kN, nullptr, SHMEM_CMP_EQ, static_cast<T>(13)), 13);
  f.wait_all_vector(words, kN, nullptr, SHMEM_CMP_LE, values);
}

/// The left neighbour fills this PE's words one by one; each form collects all of them exactly once.
template <class T>
void test_arrivals(const Many<T>& f, T* words) {
  T ones[kN];
  std::fill_n(ones, kN, T{1});
  for (int form = 0; form < 6; ++form) {
    check_step("%s: arrivals, form %d", f.name, form);
    std::fill_n(words, kN, T{0});
    shmem_barrier_all();
    for (size_t i = 0; i < kN; ++i) f.p(words + (i * 7 + me) % kN, 1, right);
    int status[kN] = {};
    size_t indices[kN], seen = 0;
    while (form < 4 && seen < kN) {
      size_t n = 1;
      if (form == 0) indices[0] = f.wait_any(words, kN, status, SHMEM_CMP_EQ, 1);
      if (form == 1) indices[0] = f.wait_any_vector(words, kN, status, SHMEM_CMP_EQ, ones);
      if (form == 2) n = f.wait_some(words, kN, indices, status, SHMEM_CMP_EQ, 1);
      if (form == 3) n = f.wait_some_vector(words, kN, indices, status, SHMEM_CMP_EQ, ones);
      CHECK(n >= 1 && n <= kN - seen, "%zu words at once, %zu seen before", n, seen);
      for (size_t k = 0; k < n; ++k) {
        CHECK(indices[k] < kN && status[indices[k]] == 0, "index %zu", indices[k]);
        CHECK_EQ(words[indices[k]], 1);
        status[indices[k]] = 1;
      }
      seen += n;
    }
    if (form == 4) f.wait_all(words, kN, nullptr, SHMEM_CMP_EQ, 1);
    if (form == 5) f.wait_all_vector(words, kN, nullptr, SHMEM_CMP_EQ, ones);
    for (size_t i = 0; i < kN; ++i) CHECK_EQ(words[i], 1);
    shmem_barrier_all();
  }
}

/// A word that stays satisfied must be reported although the others are satisfied as well.
template <class T>
void test_fairness(const Many<T>& f, T* words) {
  check_step("%s: fairness of any", f.name);
  std::fill_n(words, kN, T{1});
  T ones[kN];
  std::fill_n(ones, kN, T{1});
  bool seen[4][kN] = {};
  for (size_t i = 0; i < 100 * kN; ++i) {
    seen[0][f.wait_any(words, kN, nullptr, SHMEM_CMP_EQ, 1)] = true;
    seen[1][f.test_any(words, kN, nullptr, SHMEM_CMP_EQ, 1)] = true;
    seen[2][f.wait_any_vector(words, kN, nullptr, SHMEM_CMP_EQ, ones)] = true;
    seen[3][f.test_any_vector(words, kN, nullptr, SHMEM_CMP_EQ, ones)] = true;
  }
  for (int form = 0; form < 4; ++form)
    for (size_t i = 0; i < kN; ++i) CHECK(seen[form][i], "form %d never reported word %zu", form, i);
}

#define TEST(N, T)                                    \
  {                                                   \
    const Many<T> many = MANY(N);                     \
    test_empty_sets<T>(many, static_cast<T*>(words)); \
    test_answers<T>(many, static_cast<T*>(words));    \
    test_arrivals<T>(many, static_cast<T*>(words));   \
    test_fairness<T>(many, static_cast<T*>(words));   \
  }

}  // namespace

int main() {
  check_begin("wait_many");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  void* words = check_alloc(kN * sizeof(uint64_t));
  RAILSHMEM_FOR_AMO_TYPES(TEST)
  shmem_free(words);
  return check_end();
}

// SPDX-License-Identifier: BSD-3-Clause
//
// Every reduction of every type on a few elements: against the exact result, into another array and in place.
#include "check.h"
#include "reduce_values.h"
#include "type_lists.h"

namespace {

int me, npes;
constexpr size_t kMost = 300;  // elements; with 16 bytes each well beyond what travels in one line
void* buffers;                 // source, then dest

template <class T>
using Reduce = int (*)(shmem_team_t, T*, const T*, size_t);

template <class T>
void check_all(const char* name, Op op, const T* dest, size_t n, unsigned round) {
  for (size_t i = 0; i < n; ++i) {
    const T want = expected<T>(op, npes, i, round, [](int rank) { return rank; });
    CHECK(dest[i] == want, "%s, %zu elements: element %zu is wrong", name, n, i);
  }
}

template <class T>
void test(const char* name, Op op, Reduce<T> reduce) {
  check_step("%s", name);
  T* const source = static_cast<T*>(buffers);
  T* const dest = source + kMost;
  unsigned round = 0;
  for (const size_t n : {size_t{1}, size_t{3}, size_t{7}, size_t{33}, kMost}) {
    ++round;
    for (size_t i = 0; i < n; ++i) source[i] = operand<T>(me, i, round);
    if (n < kMost) memset(static_cast<void*>(dest + n), 0x5a, sizeof(T));
    CHECK_EQ(reduce(SHMEM_TEAM_WORLD, dest, source, n), 0);
    check_all(name, op, dest, n, round);
    if (n < kMost) CHECK_BYTES(dest + n, sizeof(T), 0x5a);
    for (size_t i = 0; i < n; ++i)
      CHECK(source[i] == operand<T>(me, i, round), "%s: the source changed at element %zu", name, i);
    CHECK_EQ(reduce(SHMEM_TEAM_WORLD, source, source, n), 0);
    check_all(name, op, source, n, round);
  }
}

}  // namespace

int main(void) {
  check_begin("reduce_types");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  buffers = check_alloc(2 * kMost * sizeof(railshmem_complexd));
#define BITS(N, T)                                                     \
  test<T>("shmem_" #N "_and_reduce", Op::And, shmem_##N##_and_reduce); \
  test<T>("shmem_" #N "_or_reduce", Op::Or, shmem_##N##_or_reduce);    \
  test<T>("shmem_" #N "_xor_reduce", Op::Xor, shmem_##N##_xor_reduce);
#define ORDER(N, T)                                                    \
  test<T>("shmem_" #N "_max_reduce", Op::Max, shmem_##N##_max_reduce); \
  test<T>("shmem_" #N "_min_reduce", Op::Min, shmem_##N##_min_reduce);
#define SUM(N, T)                                                      \
  test<T>("shmem_" #N "_sum_reduce", Op::Sum, shmem_##N##_sum_reduce); \
  test<T>("shmem_" #N "_prod_reduce", Op::Prod, shmem_##N##_prod_reduce);
  RAILSHMEM_FOR_REDUCE_BITS_TYPES(BITS)
  RAILSHMEM_FOR_REDUCE_ORDER_TYPES(ORDER)
  RAILSHMEM_FOR_REDUCE_SUM_TYPES(SUM)
  check_step("odds and ends");
  CHECK_EQ(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, NULL, NULL, 0), 0);
  CHECK(shmem_int_sum_reduce(SHMEM_TEAM_INVALID, NULL, NULL, 0) != 0, "an invalid team is not refused");
  shmem_free(buffers);
  return check_end();
}

// SPDX-License-Identifier: BSD-3-Clause
//
// Prefix sums of every type, and of one type in many sizes: inclusive and exclusive, into another array and in place.
#include "check.h"
#include "reduce_values.h"
#include "type_lists.h"

namespace {

int me, npes;
size_t capacity;  // bytes of each array
char* buffers;

template <class T>
using ScanFunction = int (*)(shmem_team_t, T*, const T*, size_t);

template <class T>
void check_all(const char* name, bool inclusive, const T* dest, size_t n, unsigned round) {
  const int count = inclusive ? me + 1 : me;
  for (size_t i = 0; i < n; ++i) {
    const T want = count == 0 ? T{} : expected<T>(Op::Sum, count, i, round, [](int rank) { return rank; });
    CHECK(dest[i] == want, "%s, %zu elements: element %zu is wrong", name, n, i);
  }
}

template <class T>
void test_one(const char* name, bool inclusive, ScanFunction<T> scan, size_t n) {
  static unsigned round = 0;
  check_step("%s of %zu elements", name, n);
  T* const source = reinterpret_cast<T*>(buffers);
  T* const dest = reinterpret_cast<T*>(buffers + capacity);
  ++round;
  for (size_t i = 0; i < n; ++i) source[i] = operand<T>(me, i, round);
  memset(static_cast<void*>(dest + n), 0x5a, sizeof(T));
  CHECK_EQ(scan(SHMEM_TEAM_WORLD, dest, source, n), 0);
  check_all(name, inclusive, dest, n, round);
  CHECK_BYTES(dest + n, sizeof(T), 0x5a);
  CHECK_EQ(scan(SHMEM_TEAM_WORLD, source, source, n), 0);
  check_all(name, inclusive, source, n, round);
}

template <class T>
void test_sizes(const char* name, bool inclusive, ScanFunction<T> scan) {
  const size_t limit = (check_quick() ? size_t{70000} : size_t{300000}) / sizeof(T);
  for (const size_t bytes : {8, 48, 56, 64, 72, 1016, 1024, 1032, 2048, 4104, 8192, 8200, 16384, 16392, 65536, 65544})
    if (bytes >= sizeof(T)) test_one(name, inclusive, scan, bytes / sizeof(T));
  test_one(name, inclusive, scan, limit);
}

}  // namespace

int main(void) {
  check_begin("scan");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  capacity = 310000;
  buffers = static_cast<char*>(check_alloc(2 * capacity));
#define SCANS(N, T)                                                           \
  for (const size_t n : {size_t{1}, size_t{5}, size_t{40}}) {                 \
    test_one<T>("shmem_" #N "_sum_inscan", true, shmem_##N##_sum_inscan, n);  \
    test_one<T>("shmem_" #N "_sum_exscan", false, shmem_##N##_sum_exscan, n); \
  }
  RAILSHMEM_FOR_REDUCE_SUM_TYPES(SCANS)
  test_sizes<long>("shmem_long_sum_inscan", true, shmem_long_sum_inscan);
  test_sizes<long>("shmem_long_sum_exscan", false, shmem_long_sum_exscan);
  test_sizes<railshmem_complexd>("shmem_complexd_sum_exscan", false, shmem_complexd_sum_exscan);
  test_sizes<int8_t>("shmem_int8_sum_inscan", true, shmem_int8_sum_inscan);
  check_step("odds and ends");
  CHECK_EQ(shmem_int_sum_exscan(SHMEM_TEAM_WORLD, NULL, NULL, 0), 0);
  CHECK(shmem_int_sum_inscan(SHMEM_TEAM_INVALID, NULL, NULL, 0) != 0, "an invalid team is not refused");
  shmem_free(buffers);
  return check_end();
}

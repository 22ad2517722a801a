// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions of many sizes, of global objects, on a part of the world, back to back without a synchronisation, and the
// bits of floating-point results.
#include <algorithm>

#include "check.h"
#include "reduce_values.h"

namespace {

int me, npes;
size_t capacity;  // elements of each array
long *source, *dest;

long* moved;  // more room, in elements
constexpr size_t kMoved = 40000;

constexpr size_t kGlobal = 5000;
long global_source[kGlobal], global_dest[kGlobal];

void fill(long* at, size_t n, unsigned round) {
  for (size_t i = 0; i < n; ++i) at[i] = operand<long>(me, i, round);
}
template <class World>
void check_sum(const long* at, size_t n, unsigned round, int members, World&& world) {
  for (size_t i = 0; i < n; ++i) {
    const long want = expected<long>(Op::Sum, members, i, round, world);
    CHECK(at[i] == want, "%zu elements: element %zu is %ld, expected %ld", n, i, at[i], want);
  }
}
void check_sum(const long* at, size_t n, unsigned round) {
  check_sum(at, n, round, npes, [](int rank) { return rank; });
}

void test_sizes(long* from, long* to, size_t most) {
  unsigned round = 1000;
  for (const size_t bytes : {8,    48,   56,   64,   72,    504,   512,   520,   624,   632,    2048,   2056,
                             4096, 8184, 8192, 8200, 16376, 16384, 16392, 32768, 65536, 131072, 131080, 327680}) {
    const size_t n = bytes / sizeof(long);
    if (n > most) break;
    for (const bool in_place : {false, true}) {
      check_step("sum of %zu bytes%s", bytes, in_place ? " in place" : "");
      fill(from, n, ++round);
      CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, in_place ? from : to, from, n), 0);
      check_sum(in_place ? from : to, n, round);
      if (!in_place)
        for (size_t i = 0; i < n; ++i)
          CHECK(from[i] == operand<long>(me, i, round), "the source changed at element %zu", i);
    }
  }
}

/// Source and dest in different segments.
void test_mixed_segments() {
  check_step("from the heap to a global object and back");
  for (const size_t n : {size_t{4}, size_t{100}, kGlobal}) {
    fill(source, n, 7);
    CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, global_dest, source, n), 0);
    check_sum(global_dest, n, 7);
    fill(global_source, n, 8);
    CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, global_source, n), 0);
    check_sum(dest, n, 8);
    fill(source, n, 9);
    CHECK_EQ(shmem_long_sum_inscan(SHMEM_TEAM_WORLD, global_dest, source, n), 0);
    check_sum(global_dest, n, 9, me + 1, [](int rank) { return rank; });
  }
}

/// The PEs of this node, whoever they are.
void test_shared() {
  check_step("SHMEM_TEAM_SHARED");
  static std::vector<int> pes;
  for (int pe = 0; pe < npes; ++pe)
    if (shmem_ptr(source, pe) != nullptr) pes.push_back(pe);
  const auto world = [](int rank) { return pes[static_cast<size_t>(rank)]; };
  int rank = 0;
  while (pes[static_cast<size_t>(rank)] != me) ++rank;
  for (const size_t n : {size_t{1}, size_t{500}, size_t{9000}}) {
    fill(source, n, 77);
    CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_SHARED, dest, source, n), 0);
    check_sum(dest, n, 77, static_cast<int>(pes.size()), world);
    CHECK_EQ(shmem_long_sum_exscan(SHMEM_TEAM_SHARED, dest, source, n), 0);
    if (rank > 0) check_sum(dest, n, 77, rank, world);
  }
  shmem_barrier_all();
}

/// Where a collective that moves data may write although some PEs are still busy with the one before: an array that
/// nobody uses. When all are used up, PEs meet first.
long* fresh(size_t n) {
  static size_t used = 0;
  if (used + n > kMoved) {
    shmem_sync_all();
    used = 0;
  }
  used += n;
  return moved + used - n;
}

/// One collective after the other, all kinds and sizes mixed (also with those that only move data), PEs out of step.
/// What a slow PE has not yet taken must not be overwritten, and the source may be reused at once.
void test_back_to_back(int rounds) {
  check_step("back to back");
  std::mt19937 same(12345), own(static_cast<unsigned>(me) + 1);  // one stream agrees on all PEs
  for (int r = 0; r < rounds; ++r) {
    const unsigned round = 5000 + static_cast<unsigned>(r);
    const size_t most = same() % 16 == 0 ? capacity : same() % 4 == 0 ? 3000 : 30;
    const size_t n = 1 + same() % most;
    const unsigned kind = same() % 8;
    const int root = static_cast<int>(same() % static_cast<unsigned>(npes));
    const bool in_place = same() % 3 == 0;
    long* const to = in_place ? source : dest;
    if (own() % 8 == 0) usleep(own() % 200);
    fill(source, n, round);
    const auto everyone = [](int rank) { return rank; };
    switch (kind) {
      case 0:
      case 1:
        CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, source, n), 0);
        check_sum(to, n, round);
        break;
      case 2:
        CHECK_EQ(shmem_long_max_reduce(SHMEM_TEAM_WORLD, to, source, n), 0);
        for (size_t i = 0; i < n; ++i)
          CHECK(to[i] == expected<long>(Op::Max, npes, i, round, everyone), "max of %zu: element %zu", n, i);
        break;
      case 3:
        CHECK_EQ(shmem_long_sum_inscan(SHMEM_TEAM_WORLD, to, source, n), 0);
        check_sum(to, n, round, me + 1, everyone);
        break;
      case 4: {
        const size_t part = std::min(n, kMoved / 4);
        long* const into = fresh(part);
        CHECK_EQ(shmem_long_broadcast(SHMEM_TEAM_WORLD, into, source, part, root), 0);
        for (size_t i = 0; i < part; ++i)
          CHECK(into[i] == operand<long>(root, i, round), "broadcast of %zu: element %zu", part, i);
        break;
      }
      case 5: {
        const size_t part = std::min(n, kMoved / 4 / static_cast<size_t>(npes));
        long* const into = fresh(part * static_cast<size_t>(npes));
        CHECK_EQ(shmem_long_fcollect(SHMEM_TEAM_WORLD, into, source, part), 0);
        for (size_t i = 0; i < part; ++i)
          CHECK(into[static_cast<size_t>(root) * part + i] == operand<long>(root, i, round),
                "fcollect of %zu: element %zu of PE %d", part, i, root);
        break;
      }
      default:
        CHECK_EQ(shmem_long_sum_exscan(SHMEM_TEAM_WORLD, to, source, n), 0);
        if (me > 0) check_sum(to, n, round, me, everyone);
        if (me == 0)
          for (size_t i = 0; i < n; ++i) CHECK_EQ(to[i], 0);
    }
    if (same() % 20 == 0) shmem_sync_all();
  }
  shmem_barrier_all();
}

/// Sums whose last bits depend on the order. They must agree on all PEs, and in a second run, whatever the timing.
template <class T, class Sum>
void test_bits(const char* name, Sum sum, size_t n) {
  check_step("bits of %s, %zu elements", name, n);
  T* const from = reinterpret_cast<T*>(source);
  T* const to = reinterpret_cast<T*>(dest);
  std::vector<T> first(n), other(n);
  for (int run = 0; run < 3; ++run) {
    for (size_t i = 0; i < n; ++i)
      from[i] = static_cast<T>(1.0 / static_cast<double>(1 + mix(i * 64 + static_cast<unsigned>(me)) % 1000));
    if (run == 1) usleep(300 * static_cast<unsigned>((me + 1) % npes));
    if (run == 2) usleep(300 * static_cast<unsigned>(npes - me));
    CHECK_EQ(sum(SHMEM_TEAM_WORLD, to, from, n), 0);
    if (run == 0) first.assign(to, to + n);
    CHECK(memcmp(to, first.data(), n * sizeof(T)) == 0, "run %d gives other bits", run);
    shmem_barrier_all();
    shmem_getmem(other.data(), to, n * sizeof(T), (me + 1) % npes);
    CHECK(memcmp(to, other.data(), n * sizeof(T)) == 0, "PE %d has other bits", (me + 1) % npes);
    shmem_barrier_all();
  }
}

}  // namespace

int main(void) {
  check_begin("reduce_sizes");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  capacity = (check_quick() ? size_t{140000} : size_t{400000}) / sizeof(long);
  source = static_cast<long*>(check_alloc(capacity * sizeof(long)));
  dest = static_cast<long*>(check_alloc(capacity * sizeof(long)));
  moved = static_cast<long*>(check_alloc(kMoved * sizeof(long)));
  test_sizes(source, dest, capacity);
  if (check_globals()) {
    test_sizes(global_source, global_dest, kGlobal);
    test_mixed_segments();
  }
  test_shared();
  test_back_to_back(check_rounds(npes > 4 ? 400 : 1000));
  for (const size_t n : {1, 6, 50, 600, 3000, 17000}) {
    test_bits<double>("double", shmem_double_sum_reduce, n);
    test_bits<float>("float", shmem_float_sum_reduce, n);
  }
  shmem_free(moved);
  shmem_free(dest);
  shmem_free(source);
  return check_end();
}

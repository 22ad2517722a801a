// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions whose result is dealt out: every name, one type in many sizes, dest apart from source and in every part of
// it, on teams, of global objects, and back to back with PEs out of step.
#include <shmemx.h>

#include <cstdlib>
#include <vector>

#include "check.h"
#include "reduce_values.h"
#include "type_lists.h"

namespace {

int me, npes;
size_t capacity;  // bytes of the source
char *source_room, *dest_room;

unsigned last_round = 0;  // equal on all PEs that take part

constexpr size_t kGlobal = 3000;
long global_source[kGlobal], global_dest[kGlobal];

/// The members of a team by their PEs.
struct Members {
  shmem_team_t team;
  int rank, size;
  int pe(int of) const { return shmem_team_translate_pe(team, of, SHMEM_TEAM_WORLD); }
};
Members world() {
  return {SHMEM_TEAM_WORLD, me, npes};
}

template <class T>
using Function = int (*)(shmem_team_t, T*, const T*, size_t);

enum class Where { apart, own_part, first_part, last_part, shifted };
constexpr const char* kWhere[] = {"apart", "own part", "first part", "last part", "shifted"};

template <class T>
T* dest_at(Where where, const Members& members, T* dest, T* source, size_t n) {
  switch (where) {
    case Where::apart:
      return dest;
    case Where::own_part:
      return source + static_cast<size_t>(members.rank) * n;
    case Where::first_part:
      return source;
    case Where::last_part:
      return source + static_cast<size_t>(members.size - 1) * n;
    default:
      return members.size > 1 ? source + n / 2 : source;  // across two parts
  }
}

template <class T>
void test_one(const char* name, Op op, Function<T> function, const Members& members, T* dest, T* source, size_t n,
              Where where) {
  const unsigned round = ++last_round;
  check_step("%s of %zu elements, %s, %d members", name, n, kWhere[static_cast<int>(where)], members.size);
  const size_t all = n * static_cast<size_t>(members.size);
  for (size_t i = 0; i < all; ++i) source[i] = operand<T>(me, i, round);
  T* const to = dest_at(where, members, dest, source, n);
  if (where == Where::apart) memset(static_cast<void*>(dest), 0x5a, (n + 1) * sizeof(T));
  CHECK_EQ(function(members.team, to, source, n), 0);
  const size_t first = static_cast<size_t>(members.rank) * n;
  for (size_t i = 0; i < n; ++i) {
    const T want = expected<T>(op, members.size, first + i, round, [&](int rank) { return members.pe(rank); });
    CHECK(to[i] == want, "%s, %zu elements, %s: element %zu is wrong", name, n, kWhere[static_cast<int>(where)], i);
  }
  if (where == Where::apart) CHECK_BYTES(dest + n, sizeof(T), 0x5a);
  for (size_t i = 0; i < all; ++i)
    if (source + i < to || source + i >= to + n)
      CHECK(source[i] == operand<T>(me, i, round), "%s, %zu elements: the source changed at element %zu", name, n, i);
}

template <class T>
void test_one(const char* name, Op op, Function<T> function, size_t n, Where where = Where::apart) {
  test_one(name, op, function, world(), reinterpret_cast<T*>(dest_room), reinterpret_cast<T*>(source_room), n, where);
}

void test_every_name() {
#define ONE(N, T, OP, WORD) \
  test_one<T>("shmemx_" #N "_" #WORD "_reducescatter", Op::OP, shmemx_##N##_##WORD##_reducescatter, n);
#define BITS(N, T) ONE(N, T, And, and) ONE(N, T, Or, or) ONE(N, T, Xor, xor)
#define ORDER(N, T) ONE(N, T, Max, max) ONE(N, T, Min, min)
#define SUM(N, T) ONE(N, T, Sum, sum) ONE(N, T, Prod, prod)
  for (const size_t n : {size_t{1}, size_t{40}}) {
    RAILSHMEM_FOR_REDUCE_BITS_TYPES(BITS)
    RAILSHMEM_FOR_REDUCE_ORDER_TYPES(ORDER)
    RAILSHMEM_FOR_REDUCE_SUM_TYPES(SUM)
  }
}

template <class T>
void test_sizes(const char* name, Function<T> sum, const Members& members, T* dest, T* source, size_t most) {
  for (const size_t bytes :
       {8, 24, 56, 64, 248, 256, 264, 1024, 1032, 2048, 4096, 5464, 8192, 8200, 16384, 16392, 70000})
    for (const Where where : {Where::apart, Where::own_part, Where::first_part, Where::last_part, Where::shifted}) {
      const size_t n = bytes / sizeof(T);
      if (n > 0 && n * static_cast<size_t>(members.size + 1) <= most)
        test_one<T>(name, Op::Sum, sum, members, dest, source, n, where);
    }
}

void test_team() {
  if (npes < 3) return;
  shmem_team_t team = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, npes - 1, NULL, 0, &team);
  if (team != SHMEM_TEAM_INVALID)
    test_sizes<long>("on a team", shmemx_long_sum_reducescatter, {team, me - 1, npes - 1},
                     reinterpret_cast<long*>(dest_room), reinterpret_cast<long*>(source_room), capacity / sizeof(long));
  shmem_team_destroy(team);
  last_round = 10000;  // PE 0 was not there
  shmem_barrier_all();
}

/// What a slow PE has not yet read must not be overwritten, and the source may be reused at once.
void test_back_to_back(int rounds) {
  std::mt19937 same(4711), own(static_cast<unsigned>(me) + 1);  // one stream agrees on all PEs
  const size_t most = capacity / sizeof(long) / static_cast<size_t>(npes + 1);
  for (int r = 0; r < rounds; ++r) {
    const size_t n = 1 + same() % (same() % 16 == 0 ? most : same() % 4 == 0 ? most / 10 : 30);
    const auto where = static_cast<Where>(same() % 5);
    if (own() % 8 == 0) usleep(own() % 200);
    test_one<long>("back to back", Op::Sum, shmemx_long_sum_reducescatter, n, where);
    if (same() % 8 == 0) {  // another kind of collective between two
      long* const sums = reinterpret_cast<long*>(dest_room);
      sums[0] = me;
      CHECK_EQ(shmem_long_max_reduce(SHMEM_TEAM_WORLD, sums, sums, 1), 0);
      CHECK_EQ(sums[0], npes - 1);
    }
  }
}

}  // namespace

int main(void) {
  check_begin("reducescatter");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  capacity = (check_quick() ? size_t{40000} : size_t{80000}) * static_cast<size_t>(npes + 1);
  source_room = static_cast<char*>(check_alloc(capacity));
  dest_room = static_cast<char*>(check_alloc(capacity));
  const size_t longs = capacity / sizeof(long);
  test_every_name();
  test_sizes<long>("sum of long", shmemx_long_sum_reducescatter, world(), reinterpret_cast<long*>(dest_room),
                   reinterpret_cast<long*>(source_room), longs);
  test_sizes<railshmem_complexd>("sum of complexd", shmemx_complexd_sum_reducescatter, world(),
                                 reinterpret_cast<railshmem_complexd*>(dest_room),
                                 reinterpret_cast<railshmem_complexd*>(source_room), longs / 2);
  test_sizes<int8_t>("sum of int8", shmemx_int8_sum_reducescatter, world(), reinterpret_cast<int8_t*>(dest_room),
                     reinterpret_cast<int8_t*>(source_room), capacity);
  if (check_globals()) {
    test_sizes<long>("of global objects", shmemx_long_sum_reducescatter, world(), global_dest, global_source, kGlobal);
    test_sizes<long>("to the heap", shmemx_long_sum_reducescatter, world(), reinterpret_cast<long*>(dest_room),
                     global_source, kGlobal);
  }
  test_team();
  test_back_to_back(check_rounds(npes > 4 ? 200 : 500));
  check_step("odds and ends");
  CHECK_EQ(shmemx_int_sum_reducescatter(SHMEM_TEAM_WORLD, NULL, NULL, 0), 0);
  if (!getenv("SHMEM_CHECK"))  // which makes it the end of the job
    CHECK(shmemx_int_sum_reducescatter(SHMEM_TEAM_INVALID, NULL, NULL, 0) != 0, "an invalid team is not refused");
  shmem_free(dest_room);
  shmem_free(source_room);
  return check_end();
}

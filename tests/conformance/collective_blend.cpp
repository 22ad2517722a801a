// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions, scans, collectives that move data, syncs and splits in random order on one team, with nothing between:
// they share the team's lines, slots and scratch.
#include <unistd.h>

#include "check.h"

namespace {

constexpr size_t kMost = 3000;    // elements a member gives
constexpr unsigned kPlaces = 24;  // calls between two synchronisations, each with a dest and a source of its own

struct Dice {
  unsigned state;
  unsigned roll(unsigned sides) { return (state = state * 1664525u + 1013904223u) / 65536u % sides; }
};

long value(unsigned call, int rank, size_t i) {
  return static_cast<long>(call) * 1000003 + rank * 7919 + static_cast<long>(i);
}

struct Blend {
  shmem_team_t team;
  int me, members;
  long* dest;
  long* source;
  size_t room;  ///< elements of a dest

  void fill(long* from, unsigned call, size_t n, size_t first = 0) const {
    for (size_t i = 0; i < n; ++i) from[i] = value(call, me, first + i);
  }
  void expect(const long* got, unsigned call, int rank, size_t n, size_t first = 0) const {
    for (size_t i = 0; i < n; ++i) CHECK_EQ(got[i], value(call, rank, first + i));
  }
  void expect_sum(const long* got, unsigned call, int ranks, size_t n) const {
    for (size_t i = 0; i < n; ++i) {
      long sum = 0;
      for (int rank = 0; rank < ranks; ++rank) sum += value(call, rank, i);
      CHECK_EQ(got[i], sum);
    }
  }
  void run(unsigned kind, unsigned call, size_t n, unsigned extra) const {
    long* const to = dest + call % kPlaces * room;
    long* const own = source + call % kPlaces * room;
    long* const from = extra % 2 != 0 ? to : own;  // reductions may work in place
    const int root = static_cast<int>(extra) % members;
    check_step("call %u of kind %u, %zu elements", call, kind, n);
    switch (kind) {
      case 0:
        fill(from, call, n);
        CHECK_EQ(shmem_long_sum_reduce(team, to, from, n), 0);
        return expect_sum(to, call, members, n);
      case 1:
        fill(from, call, n);
        CHECK_EQ(shmem_long_sum_inscan(team, to, from, n), 0);
        return expect_sum(to, call, me + 1, n);
      case 2:
        fill(from, call, n);
        CHECK_EQ(shmem_long_sum_exscan(team, to, from, n), 0);
        return expect_sum(to, call, me, n);
      case 3:
        fill(own, call, n);
        CHECK_EQ(shmem_long_fcollect(team, to, own, n), 0);
        for (int rank = 0; rank < members; ++rank) expect(to + static_cast<size_t>(rank) * n, call, rank, n);
        return;
      case 4: {
        const auto given = [&](int rank) { return (static_cast<unsigned>(rank) + extra) % 3 == 0 ? n : n / 50; };
        fill(own, call, given(me));
        CHECK_EQ(shmem_long_collect(team, to, own, given(me)), 0);
        size_t at = 0;
        for (int rank = 0; rank < members; at += given(rank++)) expect(to + at, call, rank, given(rank));
        return;
      }
      case 5:
        fill(own, call, n);
        CHECK_EQ(shmem_long_broadcast(team, to, own, n, root), 0);
        return expect(to, call, root, n);
      case 6: {
        fill(own, call, n * static_cast<size_t>(members));
        CHECK_EQ(shmem_long_alltoall(team, to, own, n), 0);
        for (int rank = 0; rank < members; ++rank)
          expect(to + static_cast<size_t>(rank) * n, call, rank, n, static_cast<size_t>(me) * n);
        return;
      }
      case 7: {
        n /= 2;
        fill(own, call, n * static_cast<size_t>(members));
        CHECK_EQ(shmem_long_alltoalls(team, to, own, 2, 1, n), 0);
        for (int rank = 0; rank < members; ++rank)
          for (size_t i = 0; i < n; ++i)
            CHECK_EQ(to[2 * (static_cast<size_t>(rank) * n + i)], value(call, rank, static_cast<size_t>(me) * n + i));
        return;
      }
      case 8:
        CHECK_EQ(shmem_team_sync(team), 0);
        return;
      default: {
        shmem_team_t half;
        CHECK_EQ(shmem_team_split_strided(team, 0, 2, (members + 1) / 2, nullptr, 0, &half), 0);
        if (half == SHMEM_TEAM_INVALID) return;
        fill(own, call, 5);
        CHECK_EQ(shmem_long_max_reduce(half, to, own, 5), 0);
        for (size_t i = 0; i < 5; ++i) CHECK_EQ(to[i], value(call, (members - 1) / 2 * 2, i));
        shmem_team_destroy(half);
      }
    }
  }
};

}  // namespace

int main() {
  check_begin("collective_blend");
  const int npes = shmem_n_pes();
  const size_t room = kMost * static_cast<size_t>(npes);
  long* const dest = static_cast<long*>(check_alloc(room * kPlaces * sizeof(long)));
  long* const source = static_cast<long*>(check_alloc(room * kPlaces * sizeof(long)));
  const Blend blend{SHMEM_TEAM_WORLD, shmem_my_pe(), npes, dest, source, room};
  Dice dice{7};
  const unsigned calls = check_quick() ? 480 : 3000;
  static constexpr unsigned kLargest[] = {2, 7, 8, 40, 300, kMost};
  for (unsigned call = 0; call < calls; ++call) {
    if (call % kPlaces == 0) shmem_sync_all();
    const unsigned kind = dice.roll(10);
    const size_t n = 1 + dice.roll(kLargest[dice.roll(6)]);
    const unsigned extra = dice.roll(60);
    if (static_cast<int>(dice.roll(40)) == blend.me) usleep(1500);
    blend.run(kind, call, n, extra);
  }
  return check_end();
}

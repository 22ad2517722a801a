// SPDX-License-Identifier: BSD-3-Clause
#include "src/team/split.h"

#include <gtest/gtest.h>

#include <climits>
#include <vector>

#include "src/team/team.h"
#include "src/world/team_slots.h"

namespace railshmem {
namespace {

std::vector<int> pes_of(const PeSet& set) {
  std::vector<int> pes;
  for (int rank = 0; rank < set.size; ++rank) pes.push_back(set.pe(rank));
  return pes;
}

TEST(Split, ATripletIsValidWhenEachOfItsRanksExists) {
  for (int n = 1; n <= 9; ++n)
    for (int start = -2; start <= n + 1; ++start)
      for (int stride = -n - 1; stride <= n + 1; ++stride)
        for (int size = -1; size <= n + 2; ++size) {
          bool expected = size >= 1 && (stride != 0 || size == 1);
          for (int i = 0; i < size; ++i) expected &= start + i * stride >= 0 && start + i * stride < n;
          EXPECT_EQ(is_valid({start, stride, size}, n), expected)
              << start << ' ' << stride << ' ' << size << " of " << n;
        }
}

TEST(Split, HugeNumbersDoNotWrapAround) {
  EXPECT_FALSE(is_valid({0, INT_MAX, INT_MAX}, INT_MAX));
  EXPECT_FALSE(is_valid({0, 1 << 30, 5}, 8)) << "4 * 2^30 is 0 in 32 bits";
  EXPECT_FALSE(is_valid({INT_MAX, INT_MIN, 2}, 8));
  EXPECT_TRUE(is_valid({7, INT_MIN, 1}, 8));
  EXPECT_EQ(select({0, 1000000, 8}, {7, INT_MIN, 1}).pe(0), 7000000) << "the stride of one rank means nothing";
}

TEST(Split, SplitsOfSplitsNameTheParentsPes) {
  const PeSet world{0, 1, 12};
  const PeSet odd = select(world, {1, 2, 6});
  EXPECT_EQ(pes_of(odd), (std::vector<int>{1, 3, 5, 7, 9, 11}));
  const PeSet back = select(odd, {5, -2, 3});
  EXPECT_EQ(pes_of(back), (std::vector<int>{11, 7, 3}));
  EXPECT_EQ(pes_of(select(back, {2, 0, 1})), (std::vector<int>{3}));
  EXPECT_EQ(back.rank(7), 1);
  EXPECT_EQ(back.rank(5), -1);
}

TEST(Grid, EveryRankHasOnePlace) {
  for (int n = 1; n <= 12; ++n)
    for (int xrange = 1; xrange <= n + 3; ++xrange) {
      const Grid grid(n, xrange);
      const int width = std::min(n, xrange);
      const PeSet parent{0, 1, n};
      for (int rank = 0; rank < n; ++rank) {
        ASSERT_TRUE(is_valid(grid.row_of(rank), n));
        ASSERT_TRUE(is_valid(grid.column_of(rank), n));
        const PeSet row = select(parent, grid.row_of(rank));
        const PeSet column = select(parent, grid.column_of(rank));
        EXPECT_EQ(row.rank(rank), rank % width);
        EXPECT_EQ(column.rank(rank), rank / width);
        EXPECT_EQ(row.size, std::min(width, n - rank / width * width));
        int expected = 0;
        for (int other = 0; other < n; ++other) expected += other % width == rank % width;
        EXPECT_EQ(column.size, expected) << n << " in rows of " << xrange << ", rank " << rank;
      }
    }
}

TEST(TeamSlots, OneThreadHasTheSlotsAndTheLowestParentGoesFirst) {
  TeamSlots slots(70, 3);
  EXPECT_EQ(slots.free_word(0), ~uint64_t{7});
  EXPECT_EQ(slots.free_word(1), 63u);
  EXPECT_EQ(slots.free_word(2), 0u) << "beyond the end";
  const TeamSlots::Maker nine(slots, 9);
  {
    const TeamSlots::Claim alone(slots, 9);
    EXPECT_TRUE(alone.owns());
    const TeamSlots::Maker four(slots, 4);
    const TeamSlots::Claim late(slots, 4);
    EXPECT_FALSE(late.owns()) << "another thread has them";
  }
  const TeamSlots::Maker four(slots, 4);
  const TeamSlots::Claim second(slots, 9);
  EXPECT_FALSE(second.owns()) << "a lower team waits";
  const TeamSlots::Claim first(slots, 4);
  EXPECT_TRUE(first.owns());
}

TEST(TeamSlots, MeetingsGoBehindSplitsEachInATurnOfItsOwn) {
  constexpr uint64_t kNumber = uint64_t{1} << 32;
  const auto split = TeamSlots::turn_of_split((1 << Team::kSlotBits) - 1);
  EXPECT_LT(split, TeamSlots::turn_of_meeting(kNumber));
  EXPECT_NE(TeamSlots::turn_of_meeting(kNumber + 1), TeamSlots::turn_of_meeting(kNumber + (1 << 14) + 1));
  EXPECT_NE(TeamSlots::turn_of_meeting(kNumber + 1), TeamSlots::turn_of_meeting(kNumber + (kNumber << 16)));
}

TEST(TeamSlots, GivenSlotsAreFreeAgainAndNumbersOnlyGrow) {
  TeamSlots slots(8, 3);
  slots.take(5);
  EXPECT_EQ(slots.free_word(0), 0xd8u);
  slots.give(5, 40);
  slots.take(3);
  slots.give(3, 7);
  EXPECT_EQ(slots.free_word(0), 0xf8u);
  EXPECT_EQ(slots.highest_number(), 40u);
}

}  // namespace
}  // namespace railshmem

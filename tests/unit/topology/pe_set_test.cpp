// SPDX-License-Identifier: BSD-3-Clause
#include "src/topology/pe_set.h"

#include <gtest/gtest.h>

namespace railshmem {
namespace {

/// Every rank has a PE that leads back to it, and no other PE has a rank.
void expect_round_trip(const PeSet& set, int npes) {
  std::vector<int> seen(static_cast<size_t>(npes), -1);
  for (int r = 0; r < set.size; ++r) {
    const int pe = set.pe(r);
    ASSERT_GE(pe, 0);
    ASSERT_LT(pe, npes);
    seen[static_cast<size_t>(pe)] = r;
  }
  for (int pe = 0; pe < npes; ++pe) EXPECT_EQ(set.rank(pe), seen[static_cast<size_t>(pe)]) << "PE " << pe;
}

TEST(PeSet, TranslatesBothWays) {
  expect_round_trip({0, 1, 8}, 8);
  expect_round_trip({1, 2, 3}, 8);
  expect_round_trip({7, -3, 3}, 8);
  expect_round_trip({5, 0, 1}, 8);
  expect_round_trip({3, 0, 0}, 8);
}

TEST(PeSet, TableNeedNotBeRegular) {
  const std::vector<int> table{0, 3, 4, 9};
  expect_round_trip({0, 1, 4, &table}, 12);
  expect_round_trip({3, -2, 2, &table}, 12);
}

TEST(PeSet, SplitOfASplitIsASet) {
  const PeSet odd = PeSet{0, 1, 16}.split(1, 2, 8);
  EXPECT_EQ(odd.pe(3), 7);
  const PeSet reversed = odd.split(7, -3, 3);
  EXPECT_EQ(reversed.pe(0), 15);
  EXPECT_EQ(reversed.pe(2), 3);
  expect_round_trip(reversed, 16);
  const std::vector<int> table{2, 5, 6, 11};
  const PeSet of_table = PeSet{0, 1, 4, &table}.split(3, -1, 4).split(0, 2, 2);
  EXPECT_EQ(of_table.pe(0), 11);
  EXPECT_EQ(of_table.pe(1), 5);
  expect_round_trip(of_table, 12);
}

}  // namespace
}  // namespace railshmem

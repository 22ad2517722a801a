// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/arrival.h"

#include <gtest/gtest.h>

#include <set>

namespace railshmem::overlap {
namespace {

using Order = std::vector<Arrival>;

TEST(OverlapArrival, AloneNothingComes) {
  EXPECT_EQ(order_of_arrival({0}, 0, 3), Order{});
}

TEST(OverlapArrival, OwnNodeFirstThenPieceByPiece) {
  const Order expected{{0, 0}, {0, 1}, {3, 0}, {2, 0}, {3, 1}, {2, 1}};
  EXPECT_EQ(order_of_arrival({0, 0, 1, 1}, 1, 2), expected);
}

TEST(OverlapArrival, TheNodeBeforeComesFirst) {
  const Order expected{{0, 0}, {2, 0}, {0, 1}, {2, 1}};
  EXPECT_EQ(order_of_arrival({0, 1, 2}, 1, 2), expected);
}

TEST(OverlapArrival, MembersOfANodeNeedNotBeNeighbours) {
  const Order expected{{2, 0}, {1, 0}, {3, 0}};
  EXPECT_EQ(order_of_arrival({0, 1, 0, 1}, 0, 1), expected);
}

TEST(OverlapArrival, EveryPieceComesOnceOnNodesOfAnySize) {
  const std::vector<int> node_of{0, 0, 0, 1, 1, 2};
  for (int me = 0; me < 6; ++me) {
    std::set<std::pair<int, size_t>> seen;
    bool other_nodes = false;
    for (const auto& [member, number] : order_of_arrival(node_of, me, 3)) {
      EXPECT_TRUE(seen.emplace(member, number).second);
      const bool here = node_of[static_cast<size_t>(member)] == node_of[static_cast<size_t>(me)];
      EXPECT_FALSE(here && other_nodes) << "a piece of the own node behind one of another node";
      other_nodes |= !here;
    }
    EXPECT_EQ(seen.size(), 15u);
    EXPECT_EQ(seen.count({me, 0}), 0u);
  }
}

}  // namespace
}  // namespace railshmem::overlap

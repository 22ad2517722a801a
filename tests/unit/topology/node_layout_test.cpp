// SPDX-License-Identifier: BSD-3-Clause
#include "src/topology/node_layout.h"

#include <gtest/gtest.h>

namespace railshmem {
namespace {

using Pes = std::vector<int>;

TEST(NodeLayout, OneHostIsOneNode) {
  const std::vector<uint64_t> hosts(4, 7);
  const NodeLayout layout = make_node_layout(hosts, 2, 0, false);
  EXPECT_EQ(layout.members, (Pes{0, 1, 2, 3}));
  EXPECT_EQ(layout.my_slot, 2);
  EXPECT_EQ(layout.leaders, (Pes{0}));
  EXPECT_TRUE(layout.consecutive());
  EXPECT_EQ(layout.pes_on_host, 4);
}

TEST(NodeLayout, NodeSizeSplitsAHostAndTheLastNodeMayBeShort) {
  const std::vector<uint64_t> hosts(5, 7);
  const NodeLayout layout = make_node_layout(hosts, 4, 2, false);
  EXPECT_EQ(layout.members, (Pes{4}));
  EXPECT_EQ(layout.leaders, (Pes{0, 2, 4}));
  EXPECT_EQ(layout.my_node, 2);
  EXPECT_EQ(layout.pes_on_host, 5);
}

TEST(NodeLayout, CyclicPlacementGivesNodesThatAreNotConsecutive) {
  const std::vector<uint64_t> hosts{1, 2, 1, 2};
  const NodeLayout layout = make_node_layout(hosts, 3, 0, false);
  EXPECT_EQ(layout.members, (Pes{1, 3}));
  EXPECT_FALSE(layout.consecutive());
  EXPECT_EQ(layout.leaders, (Pes{0, 1}));
}

TEST(NodeLayout, AloneMakesEveryPeANode) {
  const std::vector<uint64_t> hosts(3, 1);
  const NodeLayout layout = make_node_layout(hosts, 1, 0, true);
  EXPECT_EQ(layout.members, (Pes{1}));
  EXPECT_EQ(layout.leaders, (Pes{0, 1, 2}));
  EXPECT_EQ(layout.pes_on_host, 3);
}

TEST(NodeLayout, AllPesAgreeOnEveryNode) {
  const std::vector<uint64_t> hosts{5, 5, 9, 5, 9, 9, 5, 5};
  for (const int node_size : {0, 1, 2, 3, 8}) {
    const NodeLayout first = make_node_layout(hosts, 0, node_size, false);
    std::vector<int> seen(hosts.size(), 0);
    for (int pe = 0; pe < 8; ++pe) {
      const NodeLayout mine = make_node_layout(hosts, pe, node_size, false);
      EXPECT_EQ(mine.leaders, first.leaders);
      EXPECT_EQ(mine.members[static_cast<size_t>(mine.my_slot)], pe);
      EXPECT_EQ(mine.members.front(), mine.leaders[static_cast<size_t>(mine.my_node)]);
      for (const int member : mine.members)
        EXPECT_EQ(make_node_layout(hosts, member, node_size, false).members, mine.members);
      ++seen[static_cast<size_t>(pe)];
    }
  }
}

}  // namespace
}  // namespace railshmem

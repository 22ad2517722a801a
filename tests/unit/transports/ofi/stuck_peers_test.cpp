// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/stuck_peers.h"

#include <gtest/gtest.h>

namespace railshmem::ofi {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kTimeout = 3000 * kMs;

TEST(StuckPeers, PeerThatTakesNothingIsGivenUpAtTheTimeout) {
  StuckPeers peers(2, kTimeout);
  for (uint64_t ms = 0; ms < 3000; ++ms) ASSERT_FALSE(peers.refused(1, (500 + ms) * kMs)) << ms;
  EXPECT_TRUE(peers.refused(1, 3500 * kMs));
}

TEST(StuckPeers, TwoDeadPeersInTurnAreBothGivenUp) {
  StuckPeers peers(3, kTimeout);
  uint64_t now = 0;
  while (!peers.refused(1, now) && !peers.refused(2, now)) {
    now += kMs;
    ASSERT_LE(now, kTimeout) << "each puts off the other's deadline";
  }
  EXPECT_TRUE(peers.refused(2, now + kMs));
}

TEST(StuckPeers, PostThatWasTakenEndsTheWait) {
  StuckPeers peers(2, kTimeout);
  for (uint64_t ms = 0; ms < 2999; ++ms) ASSERT_FALSE(peers.refused(1, ms * kMs));
  peers.accepted(0);  // says nothing of PE 1
  peers.accepted(1);
  for (uint64_t ms = 2999; ms < 5999; ++ms) ASSERT_FALSE(peers.refused(1, ms * kMs));
  EXPECT_TRUE(peers.refused(1, 5999 * kMs));
}

TEST(StuckPeers, RefusalOfLongAgoIsNoDeadline) {
  StuckPeers peers(2, kTimeout);
  EXPECT_FALSE(peers.refused(1, 0));
  EXPECT_FALSE(peers.refused(1, 100 * kTimeout)) << "nobody has tried in between";
  EXPECT_FALSE(peers.refused(1, 100 * kTimeout + 500 * kMs));
}

TEST(StuckPeers, ClosedRailForgetsThem) {
  StuckPeers peers(2, kTimeout);
  for (uint64_t ms = 0; ms < 2999; ++ms) ASSERT_FALSE(peers.refused(1, ms * kMs));
  peers.clear();
  EXPECT_FALSE(peers.refused(1, 3000 * kMs));
}

}  // namespace
}  // namespace railshmem::ofi

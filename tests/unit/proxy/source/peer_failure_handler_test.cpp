// SPDX-License-Identifier: BSD-3-Clause
// A peer dies, and this PE goes on: what is under way there ends, whatever the rail says and when, and nothing else
// does.
#include "src/proxy/source/peer_failure_handler.h"

#include <gtest/gtest.h>

#include "tests/support/initiator_rig.h"

namespace railshmem::test {
namespace {

constexpr int kDead = 3, kAlive = 2;

struct Loss {
  LostPeers lost{4};
  InitiatorRig rig;

  explicit Loss(RigOptions options = {}) : rig(with_lost(options)) {}
  void die() {
    lost.add(kDead);
    rig.poll_all();
  }
  void expect_nothing_waits() {
    rig.poll_all();
    EXPECT_EQ(rig.context->peer(kDead).pending(), 0u);
  }

 private:
  RigOptions with_lost(RigOptions options) {
    options.lost = &lost;
    return options;
  }
};

TEST(PeerFailureHandler, WhatIsUnderWayEndsAndWhatGoesToOthersDoesNot) {
  Loss f;
  bool done = false, other_done = false;
  ASSERT_EQ(f.rig.put(100, kDead, {&done}), Post::ok);
  ASSERT_EQ(f.rig.put(100, kAlive, {&other_done}), Post::ok);
  ASSERT_EQ(f.rig.add(kDead), Post::ok);
  ASSERT_EQ(f.rig.add(kAlive), Post::ok);
  f.die();
  f.expect_nothing_waits();
  EXPECT_TRUE(done);
  EXPECT_FALSE(other_done);
  EXPECT_EQ(f.rig.context->peer(kAlive).pending(), 2u);
  f.rig.complete_all();
  f.rig.acknowledge(1, 0, kAlive);
  EXPECT_TRUE(other_done);
  EXPECT_EQ(f.rig.context->pending(), 0u);
}

TEST(PeerFailureHandler, LaterOperationsReachNoRail) {
  Loss f;
  f.die();
  f.rig.forget_posts();
  EXPECT_EQ(f.rig.put(100, kDead), Post::failed);
  EXPECT_EQ(f.rig.put_signal(9000, kDead), Post::failed);
  EXPECT_EQ(f.rig.add(kDead), Post::failed);
  EXPECT_EQ(f.rig.posted(), 0u);
  EXPECT_EQ(f.rig.context->pending(), 0u);
  EXPECT_EQ(f.rig.put(100, kAlive), Post::ok);
}

/// Its address may be in the provider's hands as long as the process lives.
TEST(PeerFailureHandler, ACellIsNotUsedAgainBeforeTheProviderHasTold) {
  Loss f({.cells = 4});
  for (int i = 0; i < 4; ++i) ASSERT_EQ(f.rig.put(100, kDead), Post::ok);
  OpSlot* const slots[] = {f.rig.rail.posted[0].slot, f.rig.rail.posted[1].slot};
  f.die();
  f.expect_nothing_waits();
  EXPECT_EQ(f.rig.put(100, kAlive), Post::again) << "all four are out of use";
  f.rig.rail.fail(slots[0]);
  f.rig.rail.complete(slots[1]);
  f.rig.poll_all();
  EXPECT_EQ(f.rig.put(100, kAlive), Post::ok);
  EXPECT_EQ(f.rig.put(100, kAlive), Post::ok);
  EXPECT_EQ(f.rig.put(100, kAlive), Post::again);
  ASSERT_EQ(f.rig.rail.posted.size(), 6u);
  for (size_t i = 2; i < 6; ++i) f.rig.rail.complete(f.rig.rail.posted[i].slot);  // each event comes once
  f.rig.poll_all();
  EXPECT_EQ(f.rig.context->pending(), 0u);
}

TEST(PeerFailureHandler, LongPutsAndTheirSignalsDrain) {
  for (const bool keeps_order : {false, true}) {
    Loss f({.shape = {64, 3000, 4096, keeps_order}});
    f.rig.rail.room = 2;  // the rest of the pieces is posted later, or never
    bool done = false;
    ASSERT_EQ(f.rig.put_signal(9000, kDead, {&done}), Post::ok);
    f.rig.rail.room = 100;
    f.die();
    f.expect_nothing_waits();
    EXPECT_TRUE(done);
    EXPECT_EQ(f.rig.count('s'), 0);
  }
}

TEST(PeerFailureHandler, ARequestWhoseMessageIsUnderWayEnds) {
  Loss f({.shape = {0, 1 << 20, 4096, false}});
  ASSERT_EQ(f.rig.add(kDead), Post::ok);
  f.die();
  f.expect_nothing_waits();
  f.rig.complete_all();
  EXPECT_EQ(f.rig.initiator->outstanding(), 0u);
}

/// Rails find out first: a process closes its connections before its death is known.
TEST(PeerFailureHandler, AFailureIsInDoubtUntilTheDeathIsKnown) {
  Loss f;
  bool done = false, later = false;
  ASSERT_EQ(f.rig.put(100, kDead, {&done}), Post::ok);
  ASSERT_EQ(f.rig.put(100, kDead), Post::ok);
  OpSlot* const slots[] = {f.rig.rail.posted[0].slot, f.rig.rail.posted[1].slot};
  f.rig.rail.fail(slots[0]);
  f.rig.rail.fail(nullptr);
  f.rig.poll_all();
  EXPECT_FALSE(done);
  f.rig.forget_posts();
  EXPECT_EQ(f.rig.put(100, kDead, {&later}), Post::ok) << "what is posted now waits for the verdict, too";
  EXPECT_EQ(f.rig.put_signal(9000, kDead), Post::ok);
  EXPECT_EQ(f.rig.add(kDead), Post::ok);
  f.rig.poll_all();
  EXPECT_EQ(f.rig.posted(), 0u);
  EXPECT_EQ(f.rig.context->peer(kDead).pending(), 5u);
  f.die();
  f.expect_nothing_waits();
  EXPECT_TRUE(done);
  EXPECT_TRUE(later);
  f.rig.rail.fail(slots[1]);
  f.rig.poll_all();
  EXPECT_EQ(f.rig.initiator->outstanding(), 0u);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(f.rig.put(100, kAlive), Post::ok) << "all cells are back";
}
TEST(PeerFailureHandler, AFailedPostIsInDoubtToo) {
  Loss f;
  f.rig.rail.failing = 1;
  EXPECT_EQ(f.rig.put(100, kDead), Post::again);
  EXPECT_EQ(f.rig.put(100, kDead), Post::ok);
  EXPECT_EQ(f.rig.posted(), 0u);
  f.die();
  f.expect_nothing_waits();
  EXPECT_EQ(f.rig.put(100, kDead), Post::failed);
}

TEST(PeerFailureHandler, AFailureThatNoDeathExplainsEndsThisPe) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fail = [] {
    Tuning hasty;
    hasty.unreachable_ns = 50'000'000;
    Loss f({.tuning = hasty});
    f.die();  // another one's
    f.rig.put(100, kAlive);
    f.rig.rail.fail(f.rig.rail.posted[0].slot);
    for (;;) f.rig.poll_all();
  };
  EXPECT_EXIT(fail(), testing::ExitedWithCode(1), "put of 100 bytes to PE 2 over scripted failed");
}

TEST(PeerFailureHandler, PathsThatWereLostBeforeSwallowToo) {
  Loss f({.rails = 2});
  ASSERT_EQ(f.rig.put(100, kDead), Post::ok);
  f.rig.rails[f.rig.rail_of_only_post()].fail(f.rig.rails[f.rig.rail_of_only_post()].posted[0].slot);
  f.rig.poll_all();
  f.die();
  f.expect_nothing_waits();
  EXPECT_EQ(f.rig.put(100, kDead), Post::failed);
  EXPECT_EQ(f.rig.put(100, kAlive), Post::ok);
}

}  // namespace
}  // namespace railshmem::test

// SPDX-License-Identifier: BSD-3-Clause
// The initiator over several rails: pieces of long operations, and what may not overtake what.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/support/initiator_rig.h"

namespace railshmem::test {
namespace {

constexpr RailTraits kUnordered{64, 1 << 20, 4096, false};
constexpr RailTraits kMessagesBehindData{64, 1 << 20, 4096, true};

/// How often each byte of the operation at offset 100 was posted; a put's must be the right ones.
std::vector<int> coverage(const InitiatorRig& f, size_t nbytes, char what) {
  std::vector<int> times(nbytes);
  for (const ScriptedRail& rail : f.rails)
    for (const auto& posted : rail.posted) {
      if (posted.what != what) continue;
      const size_t at = posted.remote.offset - 100;
      EXPECT_LE(at + posted.nbytes, nbytes);
      if (what == 'w') {
        EXPECT_TRUE(std::equal(posted.bytes.begin(), posted.bytes.end(), f.bytes.begin() + static_cast<long>(at)));
      }
      for (size_t i = at; i < at + posted.nbytes; ++i) ++times[i];
    }
  return times;
}

/// Rooms come and go, completions come in any order, over rails in any order.
void stripe(size_t rails, OpKind kind, unsigned seed) {
  SCOPED_TRACE(testing::Message() << rails << " rails, seed " << seed);
  std::mt19937 random(seed);
  InitiatorRig f({.rails = rails, .cells = 6 + random() % 20, .tuning = small_pieces()});
  const size_t nbytes = 8192 + random() % 100000;
  bool done = false;
  const Remote place{3, SegmentId::heap, 100};
  const Op op = kind == OpKind::get ? get_op(*f.context, place, f.bytes.data(), nbytes, Local::lent)
                                    : put_op(*f.context, place, f.bytes.data(), nbytes, Local::lent);
  std::vector<OpSlot*> flying;
  std::vector<size_t> seen(rails);
  std::vector<size_t> rail_of;
  const auto post_room = [&] {
    for (ScriptedRail& rail : f.rails) rail.room = static_cast<int>(random() % 3);
  };
  post_room();
  ASSERT_EQ(issue(*f.initiator, with(op, {&done})), Post::ok);
  for (int turn = 0; !done; ++turn) {
    ASSERT_LT(turn, 20000) << f.initiator->describe_outstanding();
    post_room();
    for (size_t r = 0; r < rails; ++r)
      for (; seen[r] < f.rails[r].posted.size(); ++seen[r]) {
        flying.push_back(f.rails[r].posted[seen[r]].slot);
        rail_of.push_back(r);
      }
    if (!flying.empty() && random() % 2 == 0) {
      const size_t i = random() % flying.size();
      f.rails[rail_of[i]].complete(flying[i]);
      flying.erase(flying.begin() + static_cast<long>(i));
      rail_of.erase(rail_of.begin() + static_cast<long>(i));
    }
    f.poll();
    if (done) {
      ASSERT_TRUE(flying.empty()) << "told too early";
    }
  }
  const auto times = coverage(f, nbytes, kind == OpKind::put ? 'w' : 'r');
  EXPECT_TRUE(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }));
  EXPECT_EQ(f.context->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
  EXPECT_FALSE(f.initiator->needs_polling());
  for (size_t r = 0; r < rails; ++r) EXPECT_FALSE(f.initiator->rails().waits_for(r));
}

TEST(InitiatorRails, StripesCoverEveryByteOnceInAnyOrder) {
  for (const size_t rails : {2u, 3u, 4u})
    for (unsigned seed = 1; seed <= 60; ++seed) stripe(rails, seed % 2 == 0 ? OpKind::put : OpKind::get, seed);
}

TEST(InitiatorRails, LongOperationGoesOverAllRailsAndAShortOneOverOne) {
  InitiatorRig f({.rails = 4, .cells = 64, .tuning = small_pieces()});
  ASSERT_EQ(f.put(8191), Post::ok);
  EXPECT_EQ(f.posted(), 1u) << "below stripe_min";
  f.complete_all();
  ASSERT_EQ(f.put(1 << 16), Post::ok);
  f.poll();
  for (const ScriptedRail& rail : f.rails) {
    EXPECT_GE(rail.count('w'), 3);
    for (const auto& posted : rail.posted) EXPECT_LE(posted.nbytes, 16384u);
  }
  f.complete_all();
  EXPECT_EQ(f.context->pending(), 0u);
}

TEST(InitiatorRails, PiecesKeepWithinTheRailsOwnLimit) {
  InitiatorRig f({.rails = 2, .shape = {64, 3000, 4096, false}, .cells = 64, .tuning = small_pieces()});
  ASSERT_EQ(f.put(20000), Post::ok);
  f.complete_all();
  for (const ScriptedRail& rail : f.rails)
    for (const auto& posted : rail.posted) EXPECT_LE(posted.nbytes, 3000u);
  const auto times = coverage(f, 20000, 'w');
  EXPECT_TRUE(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }));
}

TEST(InitiatorRails, ARailWithoutRoomStopsNoOther) {
  InitiatorRig f({.rails = 2, .cells = 64, .tuning = small_pieces()});
  f.rails[0].room = 0;
  for (int i = 0; i < 8; ++i) ASSERT_EQ(f.put(8), Post::ok) << "a put";
  for (int i = 0; i < 4; ++i) ASSERT_EQ(f.add(1), Post::ok) << "a request";
  ASSERT_EQ(f.initiator->flag({2, SegmentId::heap, 0}, 1), Post::ok);
  ASSERT_EQ(f.put(1 << 16, 2), Post::ok);
  f.complete_all();
  EXPECT_EQ(f.context->peer(2).writes, 0u) << "the long one is through";
  EXPECT_EQ(f.rails[0].posted.size(), 0u);
  EXPECT_GT(f.initiator->rails().counts(0).again, 0u);
  f.rails[1].room = 0;
  EXPECT_EQ(f.put(8), Post::again) << "none has room";
}

TEST(InitiatorRails, ShortOperationsTakeTurns) {
  InitiatorRig f({.rails = 3, .cells = 64});
  for (int i = 0; i < 30; ++i) ASSERT_EQ(f.put(16), Post::ok);
  for (const ScriptedRail& rail : f.rails) EXPECT_EQ(rail.posted.size(), 10u);
}

/// A program that sets a word to 1 and then to 2 finds 2, without a fence, as over one rail.
TEST(InitiatorRails, WordsToOnePeStayOnOneRailWhileOneIsUnderWay) {
  InitiatorRig f({.rails = 3, .cells = 64});
  for (int i = 0; i < 9; ++i) ASSERT_EQ(f.put(8), Post::ok);
  size_t used = 0;
  for (const ScriptedRail& rail : f.rails) used += !rail.posted.empty();
  EXPECT_EQ(used, 1u);
  ASSERT_EQ(f.put(8, 2), Post::ok);
  ASSERT_EQ(f.put(8, 1), Post::ok) << "other PEs have their own order";
  f.complete_all();
  std::vector<size_t> before;
  for (const ScriptedRail& rail : f.rails) before.push_back(rail.posted.size());
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(f.put(8), Post::ok);
    f.complete_all();
  }
  for (size_t r = 0; r < 3; ++r) EXPECT_EQ(f.rails[r].posted.size(), before[r] + 2) << "one at a time takes turns";
}

// ---- requests ------------------------------------------------------------------------------------------------------

TEST(InitiatorRails, RequestsToOnePeStayOnOneRailWhileOneIsUnanswered) {
  InitiatorRig f({.rails = 4, .cells = 256});
  const auto used = [&](int pe) {
    std::set<size_t> rails;
    for (size_t r = 0; r < f.rails.size(); ++r)
      for (const auto& posted : f.rails[r].posted)
        if (posted.what == 's' && posted.to.pe == pe) rails.insert(r);
    return rails;
  };
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(f.add(3), Post::ok);
    ASSERT_EQ(f.put_signal(8, 3), Post::ok);
    ASSERT_EQ(f.put_signal(0, 3), Post::ok);
    ASSERT_EQ(f.initiator->flag({3, SegmentId::heap, 0}, 1), Post::ok);
    ASSERT_EQ(f.put(8, 2), Post::ok);  // turns the wheel
  }
  ASSERT_EQ(used(3).size(), 1u);
  const size_t r = *used(3).begin();
  f.rails[r].room = 0;
  EXPECT_EQ(f.add(3), Post::again) << "rather wait than overtake";
  EXPECT_EQ(f.put_signal(0, 3), Post::again);
  EXPECT_EQ(f.initiator->flag({3, SegmentId::heap, 0}, 1), Post::again);
  EXPECT_EQ(f.add(1), Post::ok) << "another target";
  EXPECT_EQ(f.put(8, 3), Post::ok) << "puts have no order";
  f.acknowledge(48, 0, 3, r);
  f.complete_all();
  EXPECT_EQ(f.context->peer(3).messages, 0u);
  EXPECT_EQ(f.add(3), Post::ok) << "all answered: free to go elsewhere";
  EXPECT_EQ(used(3).size(), 2u);
}

TEST(InitiatorRails, RequestsTakeTurnsWhenEachIsAnswered) {
  InitiatorRig f({.rails = 3});
  for (uint32_t i = 0; i < 9; ++i) {
    ASSERT_EQ(f.add(), Post::ok);
    f.acknowledge(i + 1, 0, 3, i % 3);
  }
  for (const ScriptedRail& rail : f.rails) EXPECT_EQ(rail.count('s'), 3);
}

TEST(InitiatorRails, FlagIsAnsweredWhereOneRailMayDieAndTakeItAlong) {
  InitiatorRig f({.rails = 2});
  ASSERT_EQ(f.initiator->flag({3, SegmentId::heap, 8}, 7), Post::ok);
  const auto message = read_message<FlagMessage>(f.rails[f.rail_of_only_post()].posted[0].bytes.data());
  EXPECT_EQ(message.header.answer, Answer::acknowledge);
  EXPECT_EQ(message.header.sequence, 0u);
  EXPECT_EQ(f.context->pending(), 0u) << "no quiet waits for it";
  EXPECT_EQ(f.initiator->outstanding(), 1u);
  ASSERT_EQ(f.add(), Post::ok);
  f.acknowledge(2);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
  EXPECT_EQ(f.context->pending(), 0u);
}

TEST(InitiatorRails, AnswersAreFoundOnWhateverRailTheyCome) {
  InitiatorRig f({.rails = 4, .cells = 64});
  for (uint32_t i = 0; i < 32; ++i) {
    uint64_t value = 0;
    ASSERT_EQ(f.amo({AmoOp::fetch_add, 8, 1, 0}, &value), Post::ok);
    MessageHeader asked{};
    for (const ScriptedRail& rail : f.rails)
      if (!rail.posted.empty()) {
        const auto header = read_message<MessageHeader>(rail.posted.back().bytes.data());
        if (header.sequence == i) asked = header;
      }
    f.reply(asked, 100 + i, 3, (i * 7) % 4);
    EXPECT_EQ(value, 100 + i);
  }
  EXPECT_EQ(f.context->pending(), 0u);
  for (size_t r = 0; r < 4; ++r) EXPECT_FALSE(f.initiator->rails().waits_for(r));
}

// ---- put_signal ----------------------------------------------------------------------------------------------------

TEST(InitiatorRails, SignalFollowsItsDataOnTheSameRail) {
  for (const size_t rails : {2u, 3u, 4u}) {
    InitiatorRig f({.rails = rails, .shape = kMessagesBehindData, .cells = 64});
    for (int pe = 0; pe < 4; ++pe) ASSERT_EQ(f.put_signal(5000, pe), Post::ok);
    EXPECT_EQ(f.count('w'), 4);
    EXPECT_EQ(f.count('s'), 4) << "at once";
    for (const ScriptedRail& rail : f.rails)
      for (size_t i = 0; i < rail.posted.size(); ++i)
        if (rail.posted[i].what == 's') {
          ASSERT_GT(i, 0u);
          EXPECT_EQ(rail.posted[i - 1].what, 'w');
          EXPECT_EQ(rail.posted[i - 1].remote.pe, rail.posted[i].to.pe);
        }
    for (int i = 0; i < 8; ++i) ASSERT_EQ(f.put_signal(5000, 3), Post::ok);
    EXPECT_EQ(f.count('s'), 12) << "the next ones take the rail of their unanswered forerunner";
  }
}

/// The signal's number is one of the rail where others are on their way; there is no overtaking those either.
TEST(InitiatorRails, SignalWhoseDataTookAnotherRailThanRequestsUnderWayWaits) {
  InitiatorRig f({.rails = 2, .shape = kMessagesBehindData, .cells = 64});
  ASSERT_EQ(f.add(3), Post::ok);
  const size_t r = f.rail_of_only_post();
  f.rails[r].room = 0;
  ASSERT_EQ(f.put_signal(5000, 3), Post::ok);
  EXPECT_EQ(f.rails[1 - r].count('w'), 1);
  EXPECT_EQ(f.count('s'), 1) << "only the request";
  f.rails[r].room = 100;
  f.poll_all();
  EXPECT_EQ(f.count('s'), 1);
  f.complete_all();
  EXPECT_EQ(f.rails[r].count('s'), 2);
  f.acknowledge(2, 0, 3, r);
  EXPECT_EQ(f.context->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
}

/// Returns after how many of the pieces' completions the signal was posted; 0: at once.
size_t completions_before_the_signal(InitiatorRig& f) {
  static bool done;  // outlives operations that end after this
  done = false;
  EXPECT_EQ(f.put_signal(1 << 16, 3, {&done}), Post::ok);
  f.poll_all();
  if (f.count('s') > 0) return 0;
  std::vector<std::pair<size_t, OpSlot*>> pieces;
  for (size_t r = 0; r < f.rails.size(); ++r)
    for (const auto& posted : f.rails[r].posted) pieces.push_back({r, posted.slot});
  EXPECT_GT(pieces.size(), f.rails.size());
  std::shuffle(pieces.begin(), pieces.end(), std::mt19937(5));
  size_t n = 0;
  for (const auto& [r, slot] : pieces) {
    f.rails[r].complete(slot);
    f.poll_all();
    ++n;
    EXPECT_EQ(done, n == pieces.size());
    if (f.count('s') > 0) break;
  }
  EXPECT_EQ(n, pieces.size()) << "the signal overtook a piece";
  return n;
}

TEST(InitiatorRails, SignalOfStripedDataWaitsForAllPieces) {
  for (const RailTraits& shape : {kUnordered, kMessagesBehindData})
    for (const size_t rails : {2u, 3u, 4u}) {
      Tuning tuning = small_pieces();
      tuning.rail_window = 1 << 20;  // all pieces at once
      InitiatorRig f({.rails = rails, .shape = shape, .cells = 64, .tuning = tuning});
      EXPECT_GT(completions_before_the_signal(f), 0u);
      EXPECT_EQ(f.count('s'), 1);
      f.acknowledge(1);
      EXPECT_EQ(f.context->pending(), 0u);
      EXPECT_EQ(f.initiator->outstanding(), 0u);
    }
}

TEST(InitiatorRails, SignalOfShortDataWaitsWhereMessagesOvertake) {
  InitiatorRig f({.rails = 2, .shape = kUnordered});
  ASSERT_EQ(f.put_signal(5000), Post::ok);
  EXPECT_EQ(f.count('s'), 0);
  f.complete_all();
  EXPECT_EQ(f.count('s'), 1);
}

// ---- fence ---------------------------------------------------------------------------------------------------------

TEST(InitiatorRails, FenceHoldsBackItsOwnTargetAndScopeOnly) {
  InitiatorRig f({.rails = 2, .shape = {64, 1 << 20, 4096, true, true}});
  NetContext& other = f.initiator->add_context();
  ASSERT_EQ(f.put(8, 3), Post::ok);
  ++f.context->fences;
  for (const OpKind kind : {OpKind::put, OpKind::amo, OpKind::put_signal}) {
    EXPECT_FALSE(f.in_order(kind, 3)) << "each rail keeps order, the two together do not";
    EXPECT_TRUE(f.in_order(kind, 2));
    EXPECT_TRUE(f.in_order(kind, 3, &other));
  }
  ASSERT_EQ(f.put(8, 2), Post::ok);
  ++f.context->fences;
  EXPECT_FALSE(f.in_order(OpKind::put, 2));
  f.complete_all();
  EXPECT_TRUE(f.in_order(OpKind::put, 3));
  EXPECT_TRUE(f.in_order(OpKind::put, 2));
}

TEST(InitiatorRails, FenceWaitsForEveryPieceAndItsSignal) {
  InitiatorRig f({.rails = 3, .cells = 64, .tuning = small_pieces()});
  ASSERT_EQ(f.put_signal(1 << 16, 3), Post::ok);
  ++f.context->fences;
  EXPECT_FALSE(f.in_order(OpKind::put, 3));
  f.complete_all();
  EXPECT_FALSE(f.in_order(OpKind::put, 3)) << "the signal is not answered";
  f.acknowledge(1);
  EXPECT_TRUE(f.in_order(OpKind::put, 3));
}

/// The knob by which the suite proves that it would see a lack of order.
TEST(InitiatorRails, WithoutOrderSignalsAndFencesOvertake) {
  Tuning tuning = small_pieces();
  tuning.keeps_order = false;
  InitiatorRig f({.rails = 2, .shape = kUnordered, .cells = 64, .tuning = tuning});
  EXPECT_EQ(completions_before_the_signal(f), 0u);
  ++f.context->fences;
  EXPECT_TRUE(f.in_order(OpKind::put, 3));
  f.complete_all();
  f.acknowledge(1);
  EXPECT_EQ(f.context->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
}

/// SHMEM_OFI_STRIPE_MIN may be anything.
TEST(InitiatorRails, CopiedSourceMayChangeHoweverShortAStripeIs) {
  for (const size_t stripe_min : {1u, 16u, 65u, 4000u}) {
    Tuning tuning = small_pieces();
    tuning.stripe_min = stripe_min;
    InitiatorRig f({.rails = 2, .cells = 16, .tuning = tuning});
    for (const size_t nbytes : {8u, 64u, 65u, 4096u}) {
      const std::byte first = f.bytes[0];
      for (ScriptedRail& rail : f.rails) rail.room = 0;
      const Op put = f.put_of(nbytes, 3, Local::copied);
      const Post posted = issue(*f.initiator, put);
      if (posted == Post::ok) f.bytes[0] ^= std::byte{255};  // the source is the caller's again
      for (ScriptedRail& rail : f.rails) rail.room = 100;
      if (posted == Post::again) {
        ASSERT_EQ(issue(*f.initiator, put), Post::ok);
        f.bytes[0] ^= std::byte{255};
      }
      f.poll_all();
      for (ScriptedRail& rail : f.rails)
        for (const auto& write : rail.posted) EXPECT_EQ(write.bytes[0], first) << nbytes << " of " << stripe_min;
      f.complete_all();
      EXPECT_EQ(f.context->pending(), 0u);
      f.forget_posts();
    }
  }
}

// ---- the end -------------------------------------------------------------------------------------------------------

TEST(InitiatorRails, FailureOfOneRailWhileLeavingReleasesEverything) {
  InitiatorRig f({.rails = 3, .cells = 64, .tuning = small_pieces()});
  bool done[3] = {};
  for (ScriptedRail& rail : f.rails) rail.room = 2;
  ASSERT_EQ(f.put(1 << 16, 3, {&done[0]}), Post::ok);
  for (ScriptedRail& rail : f.rails) rail.room = 3;
  ASSERT_EQ(f.put(8, 2, {&done[1]}), Post::ok);
  ASSERT_EQ(f.put_signal(1 << 16, 1, {&done[2]}), Post::ok);
  f.initiator->ignore_failures();
  f.rails[1].events.push_back({RailEvent::Kind::failed, -5, nullptr, nullptr, 0, nullptr});
  f.poll_all();
  for (const bool each : done) EXPECT_TRUE(each);
  EXPECT_EQ(f.context->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
  EXPECT_FALSE(f.initiator->needs_polling());
  f.complete_all();  // late ones
  EXPECT_EQ(f.initiator->outstanding(), 0u);
}

}  // namespace
}  // namespace railshmem::test

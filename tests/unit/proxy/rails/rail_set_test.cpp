// SPDX-License-Identifier: BSD-3-Clause
// Which rail an operation takes: turns for short ones, measured speeds for pieces of long ones.
#include "src/proxy/rails/rail_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "src/base/error.h"
#include "src/proxy/post/bulk_queue.h"
#include "tests/support/scripted_rail.h"

namespace railshmem::test {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;
const size_t kWindowBytes = Tuning{}.rail_window;

// ---- RailMeter -----------------------------------------------------------------------------------------------------

TEST(RailMeter, MeasuresWhatCompletesWhileTheRailIsBusy) {
  RailMeter meter;
  EXPECT_EQ(meter.rate(), 0) << "not measured";
  meter.posted(kMiB, 1000);
  meter.completed(128 * kKiB, 2000);
  EXPECT_EQ(meter.rate(), 0) << "too little says more about latency";
  meter.completed(128 * kKiB, 1000 + 256 * kKiB);
  EXPECT_DOUBLE_EQ(meter.rate(), 1.0);
  EXPECT_EQ(meter.in_flight(), 768 * kKiB);
  meter.completed(768 * kKiB, 1000 + 256 * kKiB + 384 * kKiB);
  EXPECT_DOUBLE_EQ(meter.rate(), 0.75 * 1 + 0.25 * 2) << "one measurement does not change everything";
  EXPECT_EQ(meter.in_flight(), 0u);
}

TEST(RailMeter, IdleTimeDoesNotCount) {
  RailMeter meter;
  meter.posted(256 * kKiB, 0);
  meter.completed(256 * kKiB, 256 * kKiB);
  ASSERT_DOUBLE_EQ(meter.rate(), 1.0);
  const uint64_t much_later = uint64_t{1} << 40;
  meter.posted(256 * kKiB, much_later);
  meter.completed(256 * kKiB, much_later + 256 * kKiB);
  EXPECT_DOUBLE_EQ(meter.rate(), 1.0);
  // Nor do bytes from before a pause join those after it.
  meter.posted(200 * kKiB, much_later * 2);
  meter.completed(200 * kKiB, much_later * 2 + 1);
  meter.posted(200 * kKiB, much_later * 3);
  meter.completed(200 * kKiB, much_later * 3 + 1);
  EXPECT_DOUBLE_EQ(meter.rate(), 1.0);
}

TEST(RailMeter, AChangedRailIsKnownAfterSomeMiB) {
  RailMeter meter;
  uint64_t now = 0;
  const auto move = [&](uint64_t ns_per_byte) {
    meter.posted(kMiB, now);
    meter.completed(kMiB, now += kMiB * ns_per_byte);
  };
  for (int i = 0; i < 10; ++i) move(1);
  EXPECT_NEAR(meter.rate(), 1, 1e-9);
  for (int i = 0; i < 16; ++i) move(4);
  EXPECT_NEAR(meter.rate(), 0.25, 0.01);
}

TEST(RailMeter, AClockThatStandsStillMeasuresNothing) {
  RailMeter meter;
  meter.posted(kMiB, 5);
  meter.completed(kMiB, 5);
  EXPECT_EQ(meter.rate(), 0);
  EXPECT_EQ(meter.in_flight(), 0u);
}

TEST(RailMeter, ADeadRailHasNothingInFlight) {
  RailMeter meter;
  meter.posted(kMiB, 0);
  meter.lost(kMiB);
  EXPECT_EQ(meter.in_flight(), 0u);
}

// ---- RailSet -------------------------------------------------------------------------------------------------------

constexpr int kPes = 1000;

/// A window of so much time that only its bytes bound it: how fast rails seem depends on when the test gets its CPU.
Tuning timeless() {
  Tuning tuning;
  tuning.rail_window_ns = 1'000'000'000'000;
  return tuning;
}

struct Set {
  explicit Set(size_t n, int me = 0, const Tuning& tuning = timeless())
      : rails(n), set(std::span(rails), me, kPes, tuning) {}
  std::vector<ScriptedRail> rails;
  RailSet<ScriptedRail> set;
};

TEST(RailSet, CanDoWhatEveryRailCan) {
  std::vector<ScriptedRail> rails(2);
  rails[0].shape = {64, 1 << 20, 9000, true, true};
  rails[1].shape = {100, 1 << 16, 8000, true, false};
  const RailTraits traits = RailSet<ScriptedRail>(std::span(rails), 0, 64, Tuning{}).traits();
  EXPECT_EQ(traits.inject, 64u);
  EXPECT_EQ(traits.max_write, size_t{1} << 16);
  EXPECT_EQ(traits.max_message, 8000u);
  EXPECT_TRUE(traits.message_after_write);
  EXPECT_FALSE(traits.write_after_write);
}

TEST(RailSet, NoneAndTooManyAreErrors) {
  std::vector<ScriptedRail> rails(kMostRails + 1);
  const auto make = [&](size_t n) { RailSet<ScriptedRail>(std::span(rails).first(n), 0, 64, Tuning{}); };
  EXPECT_THROW(make(0), Error);
  EXPECT_THROW(make(kMostRails + 1), Error);
  EXPECT_NO_THROW(make(kMostRails));
}

TEST(RailSet, TheNextUsableOneIsFoundAround) {
  using S = RailSet<ScriptedRail>;
  EXPECT_EQ(S::after(0, 0b1010), 1u);
  EXPECT_EQ(S::after(1, 0b1010), 1u);
  EXPECT_EQ(S::after(2, 0b1010), 3u);
  EXPECT_EQ(S::after(3, 0b0010), 1u);
  EXPECT_EQ(S::after(2, 0), 2u) << "none: the caller's own";
  EXPECT_EQ(S::after(31, RailMask{1} << 31), 31u);
}

TEST(RailSet, ShortOperationsTakeTurns) {
  for (const size_t n : {2u, 3u, 4u, 8u}) {
    Set s(n);
    std::vector<int> taken(n);
    for (size_t i = 0; i < 100 * n; ++i) ++taken[s.set.pick(5)];
    for (const int count : taken) EXPECT_EQ(count, 100);
  }
}

/// Sources that all begin with one target, and a source that begins with every target, load all rails alike.
TEST(RailSet, PairsOfPesStartOnDifferentRails) {
  for (const size_t n : {2u, 3u, 4u}) {
    SCOPED_TRACE(n);
    std::vector<int> by_source(n);
    std::vector<int> by_target(n);
    for (int pe = 0; pe < kPes; ++pe) {
      ++by_source[Set(n, pe).set.pick(7)];
      ++by_target[Set(n, 7).set.pick(pe)];
    }
    for (const auto& counts : {by_source, by_target})
      for (const int count : counts) EXPECT_NEAR(count, kPes / static_cast<double>(n), kPes * 0.06);
  }
}

TEST(RailSet, ShortOperationsKeepAwayFromALoadedRail) {
  Set s(3);
  s.set.long_posted(1, 32 * kKiB);
  std::vector<int> taken(3);
  for (int i = 0; i < 30; ++i) ++taken[s.set.pick(5)];
  EXPECT_EQ(taken, (std::vector<int>{10, 10, 10})) << "so little is no load";
  s.set.long_posted(1, kMiB);
  for (int i = 0; i < 30; ++i) EXPECT_NE(s.set.pick(5), 1u);
  s.set.long_posted(0, kMiB);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(s.set.pick(5), 2u);
  s.set.long_posted(2, kMiB);
  std::fill(taken.begin(), taken.end(), 0);
  for (int i = 0; i < 30; ++i) ++taken[s.set.pick(5)];
  EXPECT_EQ(taken, (std::vector<int>{10, 10, 10})) << "all alike again";
}

/// Rails that were seen to move `parts` of bytes in one span of time. The set reads the real clock, so the rails must
/// share their moments. Where the machine took a moment away in between, all are measured once more.
std::unique_ptr<Set> measured(const std::vector<uint64_t>& parts, const Tuning& tuning = timeless()) {
  for (;;) {
    auto s = std::make_unique<Set>(parts.size(), 0, tuning);
    const uint64_t began = now_ns();
    for (size_t r = 0; r < parts.size(); ++r) s->set.long_posted(r, parts[r] * kMiB);
    const uint64_t posted = now_ns();
    while (now_ns() < posted + 2'000'000) {
    }
    const uint64_t ending = now_ns();
    for (size_t r = 0; r < parts.size(); ++r)
      if (parts[r] > 0) s->set.long_completed(r, parts[r] * kMiB);
    const uint64_t slack = (posted - began) + (now_ns() - ending);
    if (slack * 100 < ending - posted) return s;  // less than 1 %
  }
}

/// Hands a long operation out in pieces, none of which completes meanwhile. Returns the bytes of each rail.
std::vector<uint64_t> hand_out(Set& s, uint64_t nbytes, uint64_t piece, RailMask full = 0) {
  std::vector<uint64_t> got(s.rails.size());
  for (uint64_t left = nbytes; left > 0;) {
    const size_t r = s.set.claim(5, piece, left, full);
    if (r == kNoRail) break;
    s.set.long_posted(r, piece);
    got[r] += piece;
    left -= piece;
  }
  return got;
}

TEST(RailSet, PiecesAreSplitByMeasuredSpeeds) {
  const auto s = measured({1, 3});
  const auto got = hand_out(*s, 2 * kMiB, 64 * kKiB);
  EXPECT_EQ(got[0] + got[1], 2 * kMiB);
  EXPECT_NEAR(static_cast<double>(got[0]) / kMiB, 0.5, 0.07) << "1 : 3, give or take a piece";
}

TEST(RailSet, RailsThatWereNotMeasuredShareAlike) {
  Set s(4);
  for (const uint64_t bytes : hand_out(s, 4 * kMiB, 128 * kKiB)) EXPECT_EQ(bytes, kMiB);
}

TEST(RailSet, AnUnmeasuredRailIsTriedAtFullShare) {
  const auto s = measured({2, 0});
  const auto got = hand_out(*s, 2 * kMiB, 64 * kKiB);
  EXPECT_EQ(got[0], kMiB);
  EXPECT_EQ(got[1], kMiB);
}

TEST(RailSet, WhatARailDoesNotMoveInItsTimeIsNotQueuedThere) {
  Tuning tuning;
  tuning.rail_window_ns = 1;
  const auto s = measured({1, 1}, tuning);
  const auto got = hand_out(*s, 2 * kMiB, 64 * kKiB);
  EXPECT_EQ(got[0], 2 * tuning.shortest_piece) << "one on its way, and one to go on with";
  EXPECT_EQ(got[1], 2 * tuning.shortest_piece);
}

TEST(RailSet, AVerySlowRailStillGetsAPieceToBeMeasuredBy) {
  const auto s = measured({1, 1000});
  uint64_t slow = 0;
  for (int i = 0; i < 40; ++i) {
    const auto got = hand_out(*s, 16 * kMiB, 64 * kKiB);
    slow += got[0];
    for (size_t r = 0; r < 2; ++r)
      for (uint64_t n = 0; n < got[r]; n += 64 * kKiB) s->set.long_completed(r, 64 * kKiB);
    if (slow > 0) break;
  }
  EXPECT_GT(slow, 0u);
}

TEST(RailSet, AFullWindowIsNotExceeded) {
  Set s(2);
  const auto got = hand_out(s, 64 * kMiB, 512 * kKiB);
  EXPECT_EQ(got, (std::vector<uint64_t>{kWindowBytes, kWindowBytes}));
  Set large(2);
  EXPECT_EQ(hand_out(large, 64 * kMiB, 3 * kMiB), (std::vector<uint64_t>{3 * kMiB, 3 * kMiB}))
      << "an idle rail takes a piece of any size";
}

TEST(RailSet, AFullRailDoesNotStopTheOthers) {
  Set s(3);
  const auto got = hand_out(s, 2 * kMiB, 64 * kKiB, 0b010);
  EXPECT_EQ(got[1], 0u);
  EXPECT_GT(got[0], 512 * kKiB);
  EXPECT_GT(got[2], 512 * kKiB);
  Set one(1);
  EXPECT_EQ(one.set.claim(5, 64, 64, 0), 0u);
  EXPECT_EQ(one.set.claim(5, 64, 64, 1), kNoRail);
  EXPECT_EQ(s.set.claim(5, 64, 64, 0b111), kNoRail);
}

/// The last piece waits for the fast rail rather than keep everybody waiting for the slow one.
TEST(RailSet, TheTailDoesNotGoToTheSlowRail) {
  const auto s = measured({1, 8});
  constexpr uint64_t kPiece = 256 * kKiB;
  EXPECT_EQ(s->set.claim(5, kPiece, kPiece, 0), 1u);
  s->set.long_posted(1, kPiece);
  EXPECT_EQ(s->set.claim(5, kPiece, kPiece, 0), 1u) << "behind another piece it is still sooner";
  EXPECT_EQ(s->set.claim(5, kPiece, kPiece, 0b10), kNoRail) << "no room there now: wait";
  EXPECT_EQ(s->set.claim(5, kPiece, 64 * kPiece, 0b10), 0u) << "with so much to come the slow one helps";
}

/// What long operations leave free is free for short ones, until it is all there is.
TEST(RailSet, LongOperationsKeepToTheirRails) {
  Tuning tuning = timeless();
  tuning.stripe_rails = 1;
  Set s(3, 0, tuning);
  const auto got = hand_out(s, 2 * kMiB, 64 * kKiB);
  EXPECT_EQ(got[0], 2 * kMiB);
  s.set.long_posted(0, 2 * kMiB);
  std::array<size_t, 3> short_ones{};
  for (int i = 0; i < 30; ++i) ++short_ones[s.set.pick(5)];
  EXPECT_EQ(short_ones[0], 0u);
  EXPECT_GT(short_ones[1], 5u);
  EXPECT_GT(short_ones[2], 5u);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(s.set.pick_for_long(5), 0u);
  s.set.paths.set_up(0, 5, false);
  EXPECT_NE(s.set.claim(5, 64 * kKiB, 64 * kKiB, 0), 0u);
  EXPECT_NE(s.set.claim(5, 64 * kKiB, 64 * kKiB, 0), kNoRail);
  EXPECT_NE(s.set.pick_for_long(5), 0u);
}

/// A connection that is not made may be refused for long, and its rail has nothing to be through with.
TEST(RailSet, NobodyWaitsForAnIdleRailThatRefuses) {
  const auto s = measured({1, 64});
  constexpr uint64_t kPiece = 256 * kKiB;
  EXPECT_EQ(s->set.claim(5, kPiece, kPiece, 0b10), 0u);
}

TEST(PathTable, TellsOncePerLookWhichPathsRefused) {
  PathTable paths(2, 4);
  for (int i = 0; i < 3; ++i) paths.refused(1, 3);
  paths.refused(0, 2);
  std::vector<std::pair<size_t, int>> told;
  const auto note = [&](size_t r, int pe) { told.emplace_back(r, pe); };
  paths.take_refused(note);
  std::sort(told.begin(), told.end());
  EXPECT_EQ(told, (std::vector<std::pair<size_t, int>>{{0, 2}, {1, 3}}));
  told.clear();
  paths.take_refused(note);
  EXPECT_TRUE(told.empty());
  paths.refused(1, 3);
  paths.take_refused(note);
  EXPECT_EQ(told.size(), 1u);
  PathTable single(1, 4);
  single.refused(0, 1);  // keeps no paths
}

TEST(RailSet, CountsWhatWasPostedAndRefused) {
  Set s(2);
  s.set.count(1, Post::ok, 100);
  s.set.count(1, Post::ok, 28);
  s.set.count(1, Post::again, 5);
  EXPECT_EQ(s.set.counts(1).operations, 2u);
  EXPECT_EQ(s.set.counts(1).nbytes, 128u);
  EXPECT_EQ(s.set.counts(1).again, 1u);
  EXPECT_EQ(s.set.counts(0).operations, 0u);
}

// ---- BulkQueue -----------------------------------------------------------------------------------------------------

TEST(BulkQueue, PiecesLieWithinTheirBounds) {
  constexpr size_t kNoLimit = size_t{1} << 30;
  Tuning tuning;
  for (const size_t rails : {1u, 2u, 3u, 4u, 8u})
    for (size_t nbytes = 100000; nbytes < (size_t{1} << 28); nbytes = nbytes * 13 / 7 + 1) {
      const size_t piece = BulkQueue::piece_of(nbytes, rails, tuning, kNoLimit);
      ASSERT_EQ(piece % 4096, 0u) << nbytes;
      ASSERT_GE(piece, tuning.shortest_piece);
      ASSERT_LE(piece, tuning.longest_piece);
      if (piece > tuning.shortest_piece && piece < tuning.longest_piece) {
        ASSERT_NEAR(static_cast<double>(nbytes) / static_cast<double>(piece * rails), 4, 0.3) << "pieces per rail";
      }
    }
  EXPECT_EQ(BulkQueue::piece_of(4 << 20, 2, tuning, kNoLimit), size_t{512} << 10);
  EXPECT_EQ(BulkQueue::piece_of(4 << 20, 2, tuning, 100000), 100000u) << "the rail's own limit is kept exactly";
}

TEST(BulkQueue, KnowsWhatIsStillToCome) {
  std::vector<OpCell> cells(BulkQueue::kMost);
  BulkQueue queue(4 * BulkQueue::kMost);
  EXPECT_TRUE(queue.empty());
  for (OpCell& cell : cells) {
    EXPECT_FALSE(queue.full());
    cell.what = {OpKind::put, 1, 10000};
    queue.add(cell, 4096);
  }
  EXPECT_TRUE(queue.full());
  EXPECT_EQ(queue.unposted(), 10000 * BulkQueue::kMost);
  std::vector<size_t> pieces;
  while (!queue[1].all_posted()) {
    pieces.push_back(queue[1].next_piece());
    queue.posted(queue[1], pieces.back());
  }
  EXPECT_EQ(pieces, (std::vector<size_t>{4096, 4096, 1808}));
  EXPECT_EQ(queue.unposted(), 10000 * (BulkQueue::kMost - 1));
  queue.remove(1);
  EXPECT_FALSE(queue.full());
  EXPECT_EQ(queue[1].whole, &cells[2]) << "the others keep their order";
  queue.clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.unposted(), 0u);
}

}  // namespace
}  // namespace railshmem::test

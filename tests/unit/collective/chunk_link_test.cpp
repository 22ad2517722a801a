// SPDX-License-Identifier: BSD-3-Clause
// Two members of one process over shared memory: the rules of links, whichever way chunks take.
#include "src/collective/chunk_link.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace railshmem {
namespace {

constexpr uint64_t kWindow = ChunkSignals::kWindow;

/// Members 0 and 1 of a world of two, whose heaps lie side by side.
class ChunkLinkTest : public testing::Test {
 protected:
  ChunkLinkTest() : heaps_(2 * kHeap) {
    layout_.node_of_pe = {0, 0};
    layout_.members = {0, 1};
    layout_.leaders = {0};
    layout_.cpus_on_host = layout_.pes_on_host = 2;
    for (int pe = 0; pe < 2; ++pe) {
      PeState& state = states_[static_cast<size_t>(pe)];
      state.me = pe;
      state.npes = 2;
      const auto base = reinterpret_cast<uintptr_t>(heaps_.data());
      state.segment[0] = {base + static_cast<size_t>(pe) * kHeap, kHeap, base, kHeap, 0, 2};
      teams_[static_cast<size_t>(pe)] = std::make_unique<Team>(state, PeSet{0, 1, 2}, pe, 0, layout_, 0, kFirstNumber);
      for (auto& counts : teams_[static_cast<size_t>(pe)]->links) counts.assign(2, {kFirstNumber, kFirstNumber});
    }
  }
  Team& team(int pe) { return *teams_[static_cast<size_t>(pe)]; }
  /// A symmetric address behind the team's area, as PE `pe` sees it.
  std::byte* place(int pe, size_t at) { return heaps_.data() + static_cast<size_t>(pe) * kHeap + (kHeap / 2) + at; }

  static constexpr size_t kHeap = size_t{1} << 20;
  static constexpr uint64_t kFirstNumber = 1000;
  std::vector<std::byte> heaps_;
  NodeLayout layout_;
  std::array<PeState, 2> states_;
  std::array<std::unique_ptr<Team>, 2> teams_;
};

TEST_F(ChunkLinkTest, NothingIsSentBeforeTheReceiverHasCome) {
  ChunkSender sender(team(0), "test", LinkKind::results, 1);
  EXPECT_FALSE(sender.granted());
  ChunkReceiver receiver(team(1), LinkKind::results, 0, 3);
  EXPECT_TRUE(sender.granted());
}

TEST_F(ChunkLinkTest, ChunksCarryTheirData) {
  ChunkReceiver receiver(team(1), LinkKind::results, 0, 1);
  ChunkSender sender(team(0), "test", LinkKind::results, 1);
  const std::array<std::byte, 5> source{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  EXPECT_FALSE(receiver.arrived(0));
  sender.send(place(0, 64), source.data(), source.size());
  ASSERT_TRUE(receiver.arrived(0));
  EXPECT_TRUE(std::equal(source.begin(), source.end(), place(1, 64)));
}

TEST_F(ChunkLinkTest, AWindowOfChunksIsOnItsWayAtMost) {
  constexpr size_t kCount = 20;
  ChunkReceiver receiver(team(1), LinkKind::results, 0, kCount);
  ChunkSender sender(team(0), "test", LinkKind::results, 1);
  const std::byte byte{};
  size_t sent = 0;
  for (; sender.granted(); ++sent) sender.send(place(0, sent), &byte, 1);
  EXPECT_EQ(sent, kWindow);
  // The first one holds up the rest: words are used again in turn.
  for (size_t i = 1; i < kWindow; ++i) receiver.use(i);
  EXPECT_FALSE(sender.granted());
  receiver.use(0);
  for (; sender.granted(); ++sent) sender.send(place(0, sent), &byte, 1);
  EXPECT_EQ(sent, 2 * kWindow);
  EXPECT_FALSE(receiver.over());
  EXPECT_EQ(receiver.first(), kWindow);
}

TEST_F(ChunkLinkTest, ChunksAreUsedInAnyOrder) {
  constexpr size_t kCount = 3 * kWindow + 1;
  ChunkReceiver receiver(team(1), LinkKind::operands, 0, kCount);
  ChunkSender sender(team(0), "test", LinkKind::operands, 1);
  size_t used = 0;
  for (size_t sent = 0; !receiver.over();) {
    const auto byte = static_cast<std::byte>(sent);
    if (sent < kCount && sender.granted()) sender.send(place(0, sent++), &byte, 1);
    // The last of those that are there.
    for (size_t i = receiver.end(); i-- > receiver.first();) {
      if (receiver.was_used(i) || !receiver.arrived(i)) continue;
      EXPECT_EQ(*place(1, i), static_cast<std::byte>(i));
      receiver.use(i);
      EXPECT_TRUE(receiver.was_used(i));
      ++used;
      break;
    }
  }
  EXPECT_EQ(used, kCount);
}

TEST_F(ChunkLinkTest, CollectivesFollowEachOtherWithoutMeeting) {
  const std::byte byte{};
  for (int collective = 0; collective < 10; ++collective) {
    ChunkSender sender(team(0), "test", LinkKind::results, 1);
    EXPECT_FALSE(sender.granted()) << "the receiver has not come to this one";
    ChunkReceiver receiver(team(1), LinkKind::results, 0, 3);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_FALSE(receiver.arrived(i));
      ASSERT_TRUE(sender.granted());
      sender.send(place(0, i), &byte, 1);
      ASSERT_TRUE(receiver.arrived(i));
      receiver.use(i);
    }
    EXPECT_TRUE(receiver.over());
    EXPECT_FALSE(sender.granted()) << "no chunk more than the receiver awaits";
  }
  EXPECT_EQ(team(0).highest_number(), kFirstNumber + 30);
  EXPECT_EQ(team(1).highest_number(), kFirstNumber + 30);
}

TEST_F(ChunkLinkTest, ASmallerWindowIsKept) {
  ChunkReceiver receiver(team(1), LinkKind::operands, 0, 5, 2);
  ChunkSender sender(team(0), "test", LinkKind::operands, 1);
  const std::byte byte{};
  for (size_t i = 0; i < 5; ++i) {
    if (i >= 2) receiver.use(i - 2);
    ASSERT_TRUE(sender.granted());
    sender.send(place(0, i), &byte, 1);
    EXPECT_EQ(sender.granted(), i == 0);
  }
}

TEST_F(ChunkLinkTest, KindsOfLinksDoNotMeet) {
  ChunkReceiver operands(team(1), LinkKind::operands, 0, 1);
  EXPECT_FALSE(ChunkSender(team(0), "test", LinkKind::results, 1).granted());
  EXPECT_TRUE(ChunkSender(team(0), "test", LinkKind::operands, 1).granted());
}

TEST(Chunks, CoverTheRunOnce) {
  for (const size_t nbytes : {size_t{0}, size_t{1}, size_t{99}, size_t{100}, size_t{101}, size_t{1000}}) {
    const Chunks chunks{nbytes, 100};
    size_t sum = 0;
    for (size_t i = 0; i < chunks.count(); ++i) {
      EXPECT_EQ(chunks.start(i), sum);
      EXPECT_GT(chunks.length(i), 0u);
      sum += chunks.length(i);
    }
    EXPECT_EQ(sum, nbytes);
  }
}

}  // namespace
}  // namespace railshmem

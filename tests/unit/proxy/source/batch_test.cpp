// SPDX-License-Identifier: BSD-3-Clause
// Batches of small puts: which writes tell the rail that another follows, and that the last one always goes out.
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "tests/support/issue.h"
#include "tests/support/scripted_rail.h"

namespace railshmem::test {
namespace {

struct Batch {
  explicit Batch(size_t cells = 64, size_t count = 1) : rails(count) {
    initiator.emplace(std::span(rails), InitiatorConfig{Port::host, 0, 4, cells, {}});
    context = &initiator->add_context();
  }
  Op put_of(size_t nbytes, int pe = 3, uint64_t offset = 0, Local use = Local::lent) {
    return put_op(*context, {pe, SegmentId::heap, offset}, bytes.data(), nbytes, use);
  }
  Post put(Local use = Local::lent, size_t nbytes = 8) {
    const Post posted = hold(*initiator, put_of(nbytes, 3, nbytes * puts, use));
    if (posted == Post::ok) ++puts;
    return posted;
  }
  void poll() {
    initiator->poll([](size_t, const std::byte*, size_t) { FAIL(); });
  }
  /// Each write whose `more` promises another must have one behind it, directly.
  void expect_promises_kept() {
    for (const ScriptedRail& each : rails)
      for (size_t i = 0; i < each.posted.size(); ++i)
        if (each.posted[i].more) {
          ASSERT_LT(i + 1, each.posted.size()) << "a doorbell that never rings";
          ASSERT_EQ(each.posted[i + 1].what, 'w');
        }
  }

  std::vector<ScriptedRail> rails;
  ScriptedRail& rail = rails[0];
  std::optional<Initiator<ScriptedRail>> initiator;
  NetContext* context;
  std::vector<std::byte> bytes = std::vector<std::byte>(4096, std::byte{7});
  uint64_t puts = 0;
};

const NetSignal kBatchSignal{SegmentId::heap, 8, 1, SignalOp::set};

TEST(Batch, EachWriteButTheLastTellsThatAnotherFollows) {
  Batch b;
  for (int i = 0; i < 5; ++i) ASSERT_EQ(b.put(), Post::ok);
  ASSERT_EQ(b.rail.posted.size(), 4u) << "the fifth is held back";
  for (const auto& posted : b.rail.posted) EXPECT_TRUE(posted.more);
  EXPECT_EQ(b.context->peer(3).writes, 5u) << "quiet waits for the held one too";
  EXPECT_TRUE(b.initiator->needs_polling()) << "a sleeping proxy thread must look after it";
  ASSERT_TRUE(b.initiator->release_held());
  ASSERT_EQ(b.rail.posted.size(), 5u);
  EXPECT_FALSE(b.rail.posted[4].more);
  EXPECT_FALSE(b.initiator->needs_polling());
  b.rail.complete_all_writes();
  b.poll();
  EXPECT_EQ(b.context->pending(), 0u);
  EXPECT_EQ(b.initiator->outstanding(), 0u);
}

TEST(Batch, EverythingThatComesBehindReleasesTheCoalescedWrite) {
  const auto after = [](auto&& action, const char* what) {
    Batch b;
    ASSERT_EQ(b.put(), Post::ok);
    ASSERT_EQ(b.rail.posted.size(), 0u);
    action(b);
    ASSERT_GE(b.rail.posted.size(), 1u) << what;
    EXPECT_EQ(b.rail.posted[0].what, 'w') << what;
    EXPECT_FALSE(b.rail.posted[0].more) << what;
  };
  after([](Batch& b) { b.poll(); }, "a wait");
  const Remote place{3, SegmentId::heap, 0};
  after([](Batch& b) { issue(*b.initiator, b.put_of(4096)); }, "a put");
  after([&](Batch& b) { issue(*b.initiator, get_op(*b.context, place, b.bytes.data(), 8, Local::lent)); }, "a get");
  after(
      [&](Batch& b) {
        issue(*b.initiator, put_signal_op(*b.context, place, b.bytes.data(), 8, kBatchSignal, Local::lent));
      },
      "a put with signal");
  after(
      [&](Batch& b) {
        issue(*b.initiator, amo_op(*b.context, place, {AmoOp::add, 8, 1, 0}, nullptr, Local::lent));
      },
      "an atomic");
  after([](Batch& b) { b.initiator->flag({3, SegmentId::heap, 0}, 1); }, "a flag");
  after(
      [](Batch& b) {
        NetContext& other = b.initiator->add_context();
        Op put = b.put_of(8, 2);
        put.context = &other;
        issue(*b.initiator, put);
      },
      "a put of another context");
}

TEST(Batch, LongBatchesRingTheDoorbellOnTheWay) {
  Batch b(256);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(b.put(), Post::ok);
  uint32_t run = 0;
  for (const auto& posted : b.rail.posted) {
    run = posted.more ? run + 1 : 0;
    EXPECT_LT(run, CoalescedWrite::kLongestRun);
  }
}

TEST(Batch, CopiedSourceMayChangeWhileItsWriteIsHeld) {
  Batch b;
  ASSERT_EQ(b.put(Local::copied), Post::ok);
  b.bytes.assign(b.bytes.size(), std::byte{9});
  ASSERT_TRUE(b.initiator->release_held());
  EXPECT_EQ(b.rail.posted[0].bytes[0], std::byte{7});
}

TEST(Batch, FullRailKeepsTheCoalescedWriteUntilThereIsRoom) {
  Batch b;
  ASSERT_EQ(b.put(), Post::ok);
  b.rail.room = 0;
  EXPECT_FALSE(b.initiator->release_held());
  EXPECT_EQ(issue(*b.initiator, b.put_of(8)), Post::again) << "not past the held one";
  b.poll();
  EXPECT_TRUE(b.rail.posted.empty());
  b.rail.room = 8;
  b.poll();
  ASSERT_EQ(b.rail.posted.size(), 1u);
  EXPECT_FALSE(b.rail.posted[0].more);
}

/// A run ends where its length does, and the next one goes over another rail.
TEST(Batch, RunsTakeTurnsOnSeveralRails) {
  Batch b(512, 3);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(b.put(Local::lent, 16), Post::ok);
  b.poll();
  b.expect_promises_kept();
  size_t posted = 0;
  for (const ScriptedRail& rail : b.rails) {
    EXPECT_GE(rail.posted.size(), 2 * CoalescedWrite::kLongestRun) << "300 puts are about 10 runs for 3 rails";
    posted += rail.posted.size();
  }
  EXPECT_EQ(posted, 300u);
}

/// Any order of puts, other operations, full rails, few cells and polls: no promise is broken, nothing stays behind.
void random_use(size_t rails, unsigned seed) {
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  Batch b(4 + random() % 12, rails);
  std::vector<size_t> completed(rails);
  uint64_t others = 0;
  const auto room = [&](auto&& posts) {
    for (ScriptedRail& rail : b.rails) rail.room = posts();
  };
  const auto complete = [&] {
    for (size_t r = 0; r < rails; ++r)
      while (completed[r] < b.rails[r].posted.size()) b.rails[r].complete(b.rails[r].posted[completed[r]++].slot);
    b.poll();
  };
  for (int step = 0; step < 300; ++step) {
    room([&] { return static_cast<int>(random() % 4); });
    switch (random() % 6) {
      case 0:
        if (issue(*b.initiator, b.put_of(8, 1)) == Post::ok) ++others;
        break;
      case 1:
        complete();
        break;
      default: {
        while (hold(*b.initiator, b.put_of(8, 3, 8 * b.puts)) == Post::again) {
          room([] { return 2; });
          complete();
        }
        ++b.puts;
      }
    }
  }
  room([] { return 1 << 20; });
  b.poll();  // a wait
  b.expect_promises_kept();
  size_t posted = 0;
  for (const ScriptedRail& rail : b.rails) posted += rail.posted.size();
  EXPECT_EQ(posted, b.puts + others);
  for (int turn = 0; b.context->pending() > 0; ++turn) {
    ASSERT_LT(turn, 10000);
    complete();
  }
  EXPECT_EQ(b.initiator->outstanding(), 0u);
}
TEST(Batch, RandomUseLeavesNothingBehind) {
  for (unsigned seed = 1; seed <= 200; ++seed) random_use(1, seed);
}
TEST(Batch, RandomUseOfSeveralRailsLeavesNothingBehind) {
  for (unsigned seed = 1; seed <= 200; ++seed) random_use(2 + seed % 3, seed);
}

}  // namespace
}  // namespace railshmem::test

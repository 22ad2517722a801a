// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/flush/flusher.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "tests/support/flush_rig.h"

namespace railshmem::test {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

TEST(Flush, NoneLetsRequestsPassAtOnce) {
  FlushRig f(FlushPolicy::none, 2);
  f.add(1);
  f.pass();
  EXPECT_EQ(f.memory[0], 1u);
  EXPECT_EQ(f.accesses(0) + f.accesses(1), "");
  EXPECT_EQ(f.answers(), 1u);
}

TEST(Flush, ReadGoesOverEveryRailBeforeTheRequestIsSeen) {
  FlushRig f(FlushPolicy::read, 3);
  f.add(1);
  f.pass();
  for (size_t r = 0; r < 3; ++r) {
    ASSERT_EQ(f.accesses(r), "r") << "data may have come over rail " << r;
    const auto& p = f.rails[r].posted[0];
    EXPECT_EQ(p.remote.pe, FlushRig::kMe);
    EXPECT_EQ(p.remote.segment, SegmentId::heap);
    EXPECT_EQ(p.remote.offset, FlushRig::kOffset);
    EXPECT_EQ(p.nbytes, 8u);
  }
  f.complete(0);
  f.complete(1);
  f.passes(100);
  EXPECT_EQ(f.memory[0], 0u) << "rail 2 has not answered";
  EXPECT_EQ(f.answers(), 0u);
  f.complete(2);
  f.pass();
  EXPECT_EQ(f.memory[0], 1u);
  EXPECT_EQ(f.answers(), 1u) << "only after it was executed";
  f.passes(100);
  EXPECT_EQ(f.accesses(0), "r") << "nothing came, nothing is flushed";
  EXPECT_FALSE(f.gate->holds());
}

TEST(Flush, WriteReadWaitsForTheReadOnly) {
  FlushRig f(FlushPolicy::write_read, 2);
  f.add(0);
  f.pass();
  for (size_t r = 0; r < 2; ++r) {
    ASSERT_EQ(f.accesses(r), "wr");
    EXPECT_EQ(f.rails[r].posted[0].nbytes, 8u);
    EXPECT_EQ(f.rails[r].posted[0].remote.offset, FlushRig::kOffset);
    EXPECT_EQ(f.rails[r].posted[1].remote.offset, FlushRig::kOffset);
    f.rails[r].complete(f.rails[r].posted[0].slot);
  }
  f.passes(10);
  EXPECT_EQ(f.memory[0], 0u) << "that a write is over says nothing";
  for (size_t r = 0; r < 2; ++r) f.rails[r].complete(f.rails[r].posted[1].slot);
  f.pass();
  EXPECT_EQ(f.memory[0], 1u);
  EXPECT_EQ(f.initiator->outstanding(), 0u) << "every cell came back";
}

TEST(Flush, LateWritesAreRetiredSilently) {
  FlushRig f(FlushPolicy::write_read, 1);
  for (uint64_t round = 1; round <= 3; ++round) {
    f.add(0);
    f.pass();
    f.rails[0].complete(f.last_slot(0));
    f.pass();
    EXPECT_EQ(f.memory[0], round) << "the write behind it may still be open";
  }
  EXPECT_EQ(f.initiator->outstanding(), 3u);
  f.rails[0].complete_all_writes();
  f.passes(2);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
  EXPECT_EQ(f.accesses(0), "wrwrwr");
}

TEST(Flush, OneServesAllArrivalsOfAPass) {
  FlushRig f(FlushPolicy::read, 2);
  for (int i = 0; i < 10; ++i) f.add(static_cast<size_t>(i % 2));
  f.pass();
  EXPECT_EQ(f.accesses(0) + f.accesses(1), "rr");
  for (int i = 0; i < 3; ++i) f.add(0);
  f.pass();
  EXPECT_EQ(f.accesses(0) + f.accesses(1), "rr") << "a request during a flush waits for the next";
  f.complete(0);
  f.complete(1);
  f.pass();
  EXPECT_EQ(f.memory[0], 10u) << "it covers those before its start only";
  EXPECT_EQ(f.accesses(0) + f.accesses(1), "rrrr") << "the next one starts at once";
  f.complete(0);
  f.complete(1);
  f.pass();
  EXPECT_EQ(f.memory[0], 13u);
}

TEST(Flush, AgainConcernsItsRailOnly) {
  FlushRig f(FlushPolicy::read, 3);
  f.rails[1].room = 0;
  f.add(0);
  f.passes(5);
  EXPECT_EQ(f.accesses(0), "r");
  EXPECT_EQ(f.accesses(1), "");
  EXPECT_EQ(f.accesses(2), "r") << "behind the one without room";
  f.complete(0);
  f.complete(2);
  f.passes(5);
  EXPECT_EQ(f.memory[0], 0u) << "the success of others is not that of rail 1";
  f.rails[1].room = 1;
  f.passes(5);
  EXPECT_EQ(f.accesses(0) + f.accesses(1) + f.accesses(2), "rrr") << "each exactly once";
  EXPECT_EQ(f.memory[0], 0u);
  f.complete(1);
  f.pass();
  EXPECT_EQ(f.memory[0], 1u);
}

TEST(Flush, AgainBetweenWriteAndRead) {
  FlushRig f(FlushPolicy::write_read, 2);
  f.rails[1].room = 1;
  f.add(0);
  f.passes(3);
  EXPECT_EQ(f.accesses(0), "wr");
  EXPECT_EQ(f.accesses(1), "w");
  f.complete(1, 'w');
  f.complete(0);
  f.passes(3);
  EXPECT_EQ(f.memory[0], 0u);
  f.rails[1].room = 1;
  f.passes(3);
  EXPECT_EQ(f.accesses(1), "wr") << "the write is not repeated";
  f.complete(1);
  f.pass();
  EXPECT_EQ(f.memory[0], 1u);
}

TEST(Flush, WaitsForCells) {
  FlushRig f(FlushPolicy::write_read, 2, 1);
  f.add(0);
  for (int i = 0; i < 20 && f.memory[0] == 0; ++i) {
    f.pass();
    f.complete(0);
    f.complete(1);
  }
  EXPECT_EQ(f.accesses(0), "wr");
  EXPECT_EQ(f.accesses(1), "wr");
  EXPECT_EQ(f.memory[0], 1u);
}

TEST(Flush, PutSignalIsHeldAsAWhole) {
  FlushRig f(FlushPolicy::read, 2);
  struct {
    PutSignalMessage message;
    uint64_t payload[2];
  } wire{};
  wire.message = {FlushRig::header(MessageKind::put_signal, 3, 0), 8, 5, 16, 16, SegmentId::heap, {}};
  wire.payload[0] = 11;
  wire.payload[1] = 12;
  f.rails[0].deliver(wire);
  f.passes(3);
  EXPECT_EQ(f.memory[1], 0u) << "no signal before the flush";
  wire.payload[0] = 99;  // the rail's buffer is used again
  f.complete(0);
  f.complete(1);
  f.pass();
  EXPECT_EQ(f.memory[1], 5u);
  EXPECT_EQ(f.memory[2], 11u);
  EXPECT_EQ(f.memory[3], 12u);
  EXPECT_EQ(f.rails[0].released, 1);
}

TEST(Flush, RequestsOfAPassKeepTheirOrder) {
  FlushRig f(FlushPolicy::read);
  for (uint32_t i = 0; i < 5; ++i) {
    SignalMessage signal{FlushRig::header(MessageKind::signal, 2, i), 8, 100 + i};
    signal.header.op = static_cast<uint8_t>(SignalOp::set);
    f.rails[0].deliver(signal);
  }
  f.pass();
  f.complete(0);
  f.pass();
  EXPECT_EQ(f.memory[1], 104u);
}

TEST(Flush, PingsAreAnsweredMeanwhile) {
  FlushRig f(FlushPolicy::read, 2);
  f.add(0);
  f.pass();
  f.rails[1].deliver(FlushRig::header(MessageKind::ping, 3, 0));
  f.passes(2);
  ASSERT_EQ(f.rails[1].posted.size(), 2u);
  EXPECT_EQ(read_message<MessageHeader>(f.rails[1].posted[1].bytes.data()).kind, MessageKind::pong);
  EXPECT_EQ(f.memory[0], 0u);
}

TEST(Flush, DescriptorsAreLearnedMeanwhile) {
  FlushRig f(FlushPolicy::read, 2);
  f.add(0);
  f.pass();
  struct {
    DescriptorMessage message;
    uint64_t descriptor;
  } wire{{FlushRig::header(MessageKind::descriptor, 3, 1), 8, 1}, 0};
  f.rails[0].deliver(wire);
  f.passes(2);
  EXPECT_EQ(f.keeper.learned, 1) << "it may be what brings a rail back";
  EXPECT_EQ(f.memory[0], 0u);
}

TEST(Flush, DataIsReadBehindIt) {
  FlushRig f(FlushPolicy::read, 2);
  GetMessage get{FlushRig::header(MessageKind::get, 2, 0), 0, 8, 0};
  get.header.answer = Answer::reply;
  f.rails[0].deliver(get);
  f.passes(3);
  EXPECT_EQ(f.answers(), 0u);
  f.memory[0] = 77;  // what a flush brings
  f.complete(0);
  f.complete(1);
  f.passes(2);
  EXPECT_EQ(f.answers(), 1u);
  const auto& bytes = f.rails[0].posted.back().bytes;
  ASSERT_EQ(bytes.size(), sizeof(MessageHeader) + 8);
  EXPECT_EQ(read_message<uint64_t>(bytes.data() + sizeof(MessageHeader)), 77u);
}

TEST(Flush, AccountWaitsForWhatIsHeld) {
  FlushRig f(FlushPolicy::read, 2);
  f.add(0);
  f.pass();
  f.rails[1].deliver(FlushRig::header(MessageKind::inquiry, 2, 0));
  const auto until = steady_clock::now() + 30ms;  // longer than an account takes
  while (steady_clock::now() < until) f.passes(10);
  EXPECT_EQ(f.answers(), 0u) << "the request that is held would be sent again, data and all";
  f.complete(0);
  f.complete(1);
  f.passes(3);
  EXPECT_EQ(f.memory[0], 1u);
  bool told = false;
  for (const auto& p : f.rails[1].posted) {
    if (p.what != 's' || p.bytes.size() != sizeof(AccountMessage)) continue;
    told = true;
    EXPECT_EQ(read_message<MessageHeader>(p.bytes.data()).sequence, 1u);
  }
  EXPECT_TRUE(told);
}

/// Rails without room, completions in any order: whenever a request is seen, a read that was posted after its arrival
/// is complete on every rail.
TEST(Flush, NothingIsSeenBeforeItsFlushWhateverRailsDo) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const size_t count = 1 + seed % 4;
    FlushRig f(seed % 2 == 0 ? FlushPolicy::read : FlushPolicy::write_read, count, 3 * count);
    std::vector<size_t> arrived_at;                     // by request
    std::vector<std::vector<size_t>> posted_at(count);  // by rail and post
    std::vector<size_t> flushed_to(count);              // by rail: when its newest complete read was posted
    std::vector<std::vector<size_t>> open(count);
    size_t published = 0;
    for (size_t step = 1; published < 200; ++step) {
      ASSERT_LT(step, 100000u);
      if (arrived_at.size() < 200 && random() % 3 == 0) {
        f.add(random() % count);
        arrived_at.push_back(step);
      }
      for (size_t r = 0; r < count; ++r) {
        f.rails[r].room = static_cast<int>(random() % 3);
        if (!open[r].empty() && random() % 2 == 0) {
          const size_t pick = random() % open[r].size();
          const auto& p = f.rails[r].posted[open[r][pick]];
          f.rails[r].complete(p.slot);
          if (p.what == 'r') flushed_to[r] = std::max(flushed_to[r], posted_at[r][open[r][pick]]);
          open[r].erase(open[r].begin() + static_cast<long>(pick));
        }
      }
      f.pass();
      for (size_t r = 0; r < count; ++r)
        while (posted_at[r].size() < f.rails[r].posted.size()) {
          if (f.rails[r].posted[posted_at[r].size()].slot != nullptr) open[r].push_back(posted_at[r].size());
          posted_at[r].push_back(step);
        }
      for (; published < f.memory[0]; ++published)
        for (size_t r = 0; r < count; ++r)
          ASSERT_GE(flushed_to[r], arrived_at[published]) << "seed " << seed << " rail " << r;
    }
  }
}

}  // namespace
}  // namespace railshmem::test

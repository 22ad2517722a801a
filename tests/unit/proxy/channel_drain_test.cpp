// SPDX-License-Identifier: BSD-3-Clause
// From the ring to the rails: what a fence holds back, what it does not, and additions that become one.
#include "src/proxy/channel_drain.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "include/shmem/device/push.h"
#include "tests/support/initiator_rig.h"
#include "tests/support/payload_room.h"

namespace railshmem::test {
namespace {

struct Rig : InitiatorRig {
  explicit Rig(const RigOptions& options = {.rails = 2, .cells = 512})
      : InitiatorRig(options), drain(channel, *initiator, 4) {}

  uint64_t push(const Command& command) {
    return device::push(channel.view().ring, command, device::Deadline::never()).ticket;
  }
  uint64_t put(uint32_t pe, uint64_t offset) {
    return push({.op = CommandOp::put,
                 .pe = pe,
                 .nbytes = 100,
                 .remote_offset = offset,
                 .local = reinterpret_cast<uint64_t>(bytes.data())});
  }
  /// 8 bytes inside the command.
  uint64_t put_value(uint32_t pe, uint64_t offset, uint64_t value) {
    return push({.op = CommandOp::put_inline, .pe = pe, .nbytes = 8, .remote_offset = offset, .value = value});
  }
  uint64_t fence() { return push({.op = CommandOp::fence}); }
  uint64_t add(uint32_t pe, uint64_t offset, uint64_t value, uint64_t width = 8) {
    return push({.op = CommandOp::amo,
                 .amo_op = AmoOp::add,
                 .pe = pe,
                 .nbytes = width,
                 .remote_offset = offset,
                 .value = value});
  }
  void steps() {
    for (int i = 0; i < 8; ++i) {
      poll_all();
      drain.step();
    }
  }
  /// Remote offsets of all writes so far, over whichever rails, that nobody completed yet.
  std::vector<uint64_t> writes() const {
    std::vector<uint64_t> offsets;
    for (const ScriptedRail& each : rails)
      for (const ScriptedRail::Posted& p : each.posted)
        if (p.what == 'w') offsets.push_back(p.remote.offset);
    std::sort(offsets.begin(), offsets.end());
    return offsets;
  }
  void complete_write(uint64_t offset) {
    for (ScriptedRail& each : rails)
      for (ScriptedRail::Posted& p : each.posted)
        if (p.what == 'w' && p.remote.offset == offset) each.complete(p.slot);
    steps();
  }
  std::vector<AmoMessage> amos() const {
    std::vector<AmoMessage> all;
    for (const ScriptedRail& each : rails)
      for (const ScriptedRail::Posted& p : each.posted)
        if (p.what == 's') all.push_back(read_message<AmoMessage>(p.bytes.data()));
    return all;
  }
  uint64_t completed() { return __atomic_load_n(channel.view().completed, __ATOMIC_ACQUIRE); }

  Channel channel{9};
  ChannelDrain<ScriptedRail> drain;
};
using Offsets = std::vector<uint64_t>;

TEST(ChannelDrain, AFenceHoldsBackItsTargetAndNobodyElse) {
  Rig rig;
  rig.put(1, 1000);
  rig.fence();
  rig.put(1, 2000);
  rig.put(2, 3000);
  rig.steps();
  EXPECT_EQ(rig.writes(), (Offsets{1000, 3000}));
  EXPECT_TRUE(rig.drain.holds());
  rig.complete_write(1000);
  EXPECT_EQ(rig.writes(), (Offsets{1000, 2000, 3000}));
  EXPECT_FALSE(rig.drain.holds());
}

TEST(ChannelDrain, WhatStandsBehindTwoFencesWaitsForWhatStandsBehindOne) {
  Rig rig;
  rig.put(1, 1000);
  rig.fence();
  rig.put(1, 2000);
  rig.fence();
  rig.put(1, 3000);
  rig.steps();
  EXPECT_EQ(rig.writes(), (Offsets{1000}));
  rig.complete_write(1000);
  EXPECT_EQ(rig.writes(), (Offsets{1000, 2000}));
  rig.put(1, 4000);  // behind both fences, too
  rig.steps();
  EXPECT_EQ(rig.writes(), (Offsets{1000, 2000}));
  rig.complete_write(2000);
  EXPECT_EQ(rig.writes(), (Offsets{1000, 2000, 3000, 4000}));
}

TEST(ChannelDrain, GetsGoPastAFence) {
  Rig rig;
  rig.put(1, 1000);
  rig.fence();
  rig.put(1, 2000);
  rig.push({.op = CommandOp::get,
            .pe = 1,
            .nbytes = 100,
            .remote_offset = 3000,
            .local = reinterpret_cast<uint64_t>(rig.bytes.data())});
  rig.steps();
  EXPECT_EQ(rig.rails[0].count('r') + rig.rails[1].count('r'), 1);
}

TEST(ChannelDrain, NothingIsLostWhenTooManyWait) {
  Rig rig;
  rig.put(1, 0);
  rig.fence();
  constexpr uint64_t kMany = 300;  // more than are put aside
  for (uint64_t i = 1; i <= kMany; ++i) rig.put(1, i * 128);
  rig.put(2, 1 << 20);
  for (int i = 0; i < 20; ++i) rig.steps();
  EXPECT_EQ(rig.writes(), (Offsets{0})) << "and the one to another PE stands behind those that found no place";
  rig.complete_write(0);
  for (int i = 0; i < 20; ++i) rig.steps();
  EXPECT_EQ(rig.writes().size(), kMany + 2);
  for (ScriptedRail& each : rig.rails) each.complete_all_writes();
}

TEST(ChannelDrain, APeerThatTakesNothingHoldsUpNoOther) {
  Rig rig;
  for (ScriptedRail& each : rig.rails) each.hung_pe = 1;
  rig.put_value(1, 1000, 7);
  rig.put(1, 2000);
  rig.put(2, 3000);
  rig.steps();
  EXPECT_EQ(rig.writes(), Offsets{}) << "most peers that have no room now have some soon";
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  rig.steps();
  EXPECT_EQ(rig.writes(), (Offsets{3000}));
  EXPECT_TRUE(rig.drain.holds());
  rig.push({.op = CommandOp::get, .pe = 1, .nbytes = 8, .local = reinterpret_cast<uint64_t>(rig.bytes.data())});
  rig.put(2, 5000);
  rig.steps();
  EXPECT_EQ(rig.writes(), (Offsets{3000, 5000})) << "once is enough";
  for (ScriptedRail& each : rig.rails) each.hung_pe = -1;
  rig.put(1, 4000);
  rig.steps();
  EXPECT_EQ(rig.writes(), (Offsets{1000, 2000, 3000, 4000, 5000}));
  EXPECT_EQ(rig.rails[0].count('r') + rig.rails[1].count('r'), 1);
  EXPECT_FALSE(rig.drain.holds());
  for (ScriptedRail& each : rig.rails) {
    for (const ScriptedRail::Posted& p : each.posted)
      if (p.remote.offset == 1000) {
        EXPECT_EQ(read_message<uint64_t>(p.bytes.data()), 7u);
      }
    each.complete_all_writes();
    for (const ScriptedRail::Posted& p : each.posted)
      if (p.what == 'r') each.complete(p.slot);
  }
  rig.steps();
  EXPECT_EQ(rig.completed(), 6u);
}

TEST(ChannelDrain, ValuesThatFindNoRoomArriveWholeAndOnce) {
  for (const size_t rails : {1, 2}) {
    SCOPED_TRACE(rails);
    Rig rig({.rails = rails, .cells = 512});
    for (ScriptedRail& each : rig.rails) each.room = 0;
    for (uint64_t i = 0; i < 3; ++i) rig.put_value(1, 8 * i, 100 + i);
    rig.steps();
    EXPECT_EQ(rig.writes(), Offsets{});
    EXPECT_TRUE(rig.drain.holds());
    EXPECT_EQ(rig.initiator->outstanding(), 0u) << "tries leave nothing behind";
    for (ScriptedRail& each : rig.rails) each.room = 1;
    for (int i = 0; i < 3; ++i) {
      rig.steps();
      for (ScriptedRail& each : rig.rails) each.room = 1;
    }
    EXPECT_EQ(rig.writes(), (Offsets{0, 8, 16}));
    for (ScriptedRail& each : rig.rails)
      for (const ScriptedRail::Posted& p : each.posted)
        EXPECT_EQ(read_message<uint64_t>(p.bytes.data()), 100 + p.remote.offset / 8);
    for (ScriptedRail& each : rig.rails) each.complete_all_writes();
    rig.steps();
    EXPECT_EQ(rig.completed(), 3u);
    EXPECT_EQ(rig.initiator->outstanding(), 0u);
  }
}

TEST(ChannelDrain, WhileThePeersLeaveAFailedPutCountsAsDone) {
  Rig rig({.rails = 1, .cells = 512});
  rig.put(1, 0);
  rig.steps();
  rig.initiator->ignore_failures();
  rig.rails[0].failing = 1;
  for (uint64_t i = 1; i <= 3; ++i) rig.put(1, 1000 * i);
  rig.steps();
  EXPECT_EQ(rig.completed(), 4u) << "the one that failed, the one before it and those after it";
  EXPECT_FALSE(rig.drain.holds());
}

TEST(ChannelDrain, AdditionsToOneWordInARowBecomeOne) {
  Rig rig;
  for (uint64_t value = 1; value <= 3; ++value) rig.add(1, 8, value);
  rig.add(1, 8, 10, 4);  // another width
  rig.add(1, 16, 20);    // another word
  rig.add(2, 16, 30);    // another PE
  const uint64_t last = rig.add(2, 16, 40);
  rig.steps();
  const std::vector<AmoMessage> sent = rig.amos();
  ASSERT_EQ(sent.size(), 4u);
  std::vector<uint64_t> operands;
  for (const AmoMessage& message : sent) operands.push_back(message.operand);
  std::sort(operands.begin(), operands.end());
  EXPECT_EQ(operands, (Offsets{6, 10, 20, 70}));
  EXPECT_EQ(rig.completed(), 0u);
  rig.acknowledge(3, 0, 1);
  rig.steps();
  EXPECT_EQ(rig.completed(), 5u) << "each of those that became one";
  rig.acknowledge(1, 0, 2);
  rig.steps();
  EXPECT_EQ(rig.completed(), last + 1);
}

TEST(ChannelDrain, AFetchedValueIsItsOwn) {
  Rig rig;
  uint64_t fetched[2] = {};
  for (uint64_t& to : fetched)
    rig.push({.op = CommandOp::amo,
              .amo_op = AmoOp::fetch_add,
              .pe = 1,
              .nbytes = 8,
              .remote_offset = 8,
              .local = reinterpret_cast<uint64_t>(&to),
              .value = 1});
  rig.steps();
  EXPECT_EQ(rig.amos().size(), 2u);
}

/// A ring with payload slots: one large, so that its number shows when it is free.
struct PayloadRig : InitiatorRig {
  explicit PayloadRig(const RigOptions& options = {.rails = 2, .cells = 512})
      : InitiatorRig(options), room(0), channel(room.with_ring(9)), drain(channel, *initiator, 4) {}

  void put(PayloadSize size, uint64_t number, uint64_t nbytes, uint64_t offset, CommandOp op = CommandOp::put_payload) {
    device::push(
        channel.view().ring,
        {.op = op, .pe = 1, .nbytes = nbytes, .remote_offset = offset, .local = 5, .value = payload_name(size, number)},
        device::Deadline::never());
  }
  void steps() {
    for (int i = 0; i < 8; ++i) {
      poll_all();
      drain.step();
    }
  }
  uint64_t freed(PayloadSize size) {
    return __atomic_load_n(channel.view().payloads[static_cast<int>(size)].freed, __ATOMIC_ACQUIRE);
  }

  PayloadRoom room;
  Channel channel;
  ChannelDrain<ScriptedRail> drain;
};

TEST(ChannelDrain, APayloadIsPostedFromItsSlotWhichIsFreeWhenTheOperationHasEnded) {
  PayloadRig rig({.rails = 1, .cells = 512});
  rig.put(PayloadSize::large, 0, 9000, 4000);
  rig.put(PayloadSize::small, 1, 200, 1000);
  rig.put(PayloadSize::small, 0, 300, 2000);
  rig.steps();
  ASSERT_EQ(rig.rails[0].count('w'), 3);
  for (const ScriptedRail::Posted& p : rig.rails[0].posted) {
    const uint64_t at = p.remote.offset == 4000   ? PayloadMemory::large_offset()
                        : p.remote.offset == 1000 ? payload_stride(PayloadSize::small)
                                                  : 0;
    EXPECT_EQ(p.local, rig.room.bytes.data() + at + 5);
  }
  EXPECT_EQ(rig.freed(PayloadSize::large), 0u);
  const auto end = [&](uint64_t offset) {
    for (ScriptedRail::Posted& p : rig.rails[0].posted)
      if (p.remote.offset == offset) rig.rails[0].complete(p.slot);
    rig.steps();
  };
  end(1000);
  EXPECT_EQ(rig.freed(PayloadSize::small), 0u) << "the one that was taken before is in use";
  end(2000);
  EXPECT_EQ(rig.freed(PayloadSize::small), 2u);
  end(4000);
  EXPECT_EQ(rig.freed(PayloadSize::large), 1u);
  rig.put(PayloadSize::large, 0, 16384, 5000);  // the next lap
  rig.steps();
  end(5000);
  EXPECT_EQ(rig.freed(PayloadSize::large), 2u);
}

TEST(ChannelDrain, APayloadBehindAFenceKeepsItsSlot) {
  PayloadRig rig;
  rig.put(PayloadSize::small, 0, 100, 1000);
  device::push(rig.channel.view().ring, {.op = CommandOp::fence}, device::Deadline::never());
  rig.put(PayloadSize::small, 1, 100, 2000);
  rig.steps();
  EXPECT_EQ(rig.rails[0].count('w') + rig.rails[1].count('w'), 1) << "the second is put aside";
  for (ScriptedRail& each : rig.rails) {
    each.complete_all_writes();
    each.posted.clear();
  }
  rig.steps();
  EXPECT_EQ(rig.freed(PayloadSize::small), 1u);
  for (ScriptedRail& each : rig.rails) each.complete_all_writes();
  rig.steps();
  EXPECT_EQ(rig.freed(PayloadSize::small), 2u);
}

TEST(ChannelDrain, AGetComesIntoItsSlot) {
  PayloadRig rig({.rails = 1, .cells = 512});
  rig.put(PayloadSize::small, 3, 700, 4000, CommandOp::get_payload);  // get slot 3
  rig.steps();
  ASSERT_EQ(rig.rails[0].count('r'), 1);
  const ScriptedRail::Posted& read = rig.rails[0].posted.back();
  EXPECT_EQ(read.local,
            rig.room.bytes.data() + PayloadMemory::gets_offset(0) + 3 * payload_stride(PayloadSize::large) + 5);
  EXPECT_EQ(rig.channel.in_flight(), 1u);
  rig.rails[0].complete(read.slot);
  rig.steps();
  EXPECT_EQ(rig.channel.in_flight(), 0u);
  EXPECT_EQ(rig.freed(PayloadSize::small), 0u) << "its owner frees it";
}

TEST(ChannelDrain, WhileThePeersLeaveSlotsOfFailedPutsAreFree) {
  PayloadRig rig({.rails = 1, .cells = 512});
  rig.put(PayloadSize::small, 0, 100, 0);
  rig.steps();
  rig.initiator->ignore_failures();
  rig.rails[0].failing = 1;
  for (uint64_t i = 1; i <= 3; ++i) rig.put(PayloadSize::small, i, 100, 1000 * i);
  rig.steps();
  EXPECT_EQ(rig.freed(PayloadSize::small), 4u);
}

using ChannelDrainDeathTest = testing::Test;
TEST(ChannelDrainDeathTest, ASlotThatDoesNotExistEndsTheJob) {
  const auto put = [](PayloadSize size, uint64_t number, uint64_t nbytes) {
    PayloadRig rig;
    rig.put(size, number, nbytes, 0);
    rig.steps();
  };
  EXPECT_EXIT(put(PayloadSize::large, 1, 9000), testing::ExitedWithCode(1), "9000 bytes of payload slot 65, ");
  EXPECT_EXIT(put(PayloadSize::small, 3, 1025), testing::ExitedWithCode(1), "1025 bytes of payload slot 3, ");
  const auto get = [] {
    PayloadRig rig;
    rig.put(PayloadSize::small, kGetSlots, 9, 0, CommandOp::get_payload);
    rig.steps();
  };
  EXPECT_EXIT(get(), testing::ExitedWithCode(1), "9 bytes of payload slot 8, ");
}

}  // namespace
}  // namespace railshmem::test

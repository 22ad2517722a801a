// SPDX-License-Identifier: BSD-3-Clause
#include "src/channel/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "include/shmem/device/push.h"
#include "src/base/error.h"
#include "src/channel/memory.h"

namespace railshmem {
namespace {

using device::Deadline;
using device::Producers;
using device::push;

/// A ring, its memory and the producers' view of it, without a channel.
struct Bench {
  explicit Bench(uint32_t log2_slots)
      : memory(host_channel_memory(log2_slots)),
        ring(memory.slots, &memory.consumer->consumed, log2_slots),
        view{memory.slots,
             &memory.producer->head,
             &memory.producer->consumed_seen,
             &memory.consumer->consumed,
             &memory.consumer->error,
             nullptr,
             log2_slots} {}
  ChannelMemory memory;
  Ring ring;
  RingView view;
};

/// Every field follows from the seed, so a mixture of two commands equals none.
Command command_of(uint64_t seed) {
  Command c;
  c.op = CommandOp::put_signal;
  c.context = static_cast<uint16_t>(seed);
  c.pe = static_cast<uint32_t>(seed & kMaxCommandPe);
  c.nbytes = seed & ~kLapBit;
  c.remote_offset = (seed * 3) & ~kLapBit;
  c.local = seed * 5;
  c.value = seed * 7;
  c.compare = seed * 11;
  c.signal_offset = (seed * 13) & ~kLapBit;
  c.signal_value = seed;
  return c;
}

uint64_t* half(Slot& slot, int i) {
  return i % 2 == 0 ? &slot.word[i / 2].lo : &slot.word[i / 2].hi;
}

/// Calls `check` for each of the 2520 orders of the eight halves in which every word's lo comes before its hi.
void for_each_order(std::vector<int>& order, uint32_t taken,
                    const std::function<void(const std::vector<int>&)>& check) {
  if (order.size() == 8) return check(order);
  for (int i = 0; i < 8; ++i) {
    if ((taken >> i & 1) != 0 || (i % 2 == 1 && (taken >> (i - 1) & 1) == 0)) continue;
    order.push_back(i);
    for_each_order(order, taken | 1u << i, check);
    order.pop_back();
  }
}

TEST(Ring, TornSlotIsInvisibleInEveryOrderOfItsStores) {
  int orders = 0;
  std::vector<int> order;
  for_each_order(order, 0, [&](const std::vector<int>& stores) {
    ++orders;
    Bench bench(0);  // one slot: every lap overwrites the last command
    for (uint64_t ticket = 0; ticket < 3; ++ticket) {
      Slot encoded = encode(command_of(ticket + 77), lap_bit(ticket, 0));
      for (const int i : stores) {
        ASSERT_FALSE(bench.ring.peek()) << "after fewer than eight stores";
        portable::store_release(half(bench.memory.slots[0], i), *half(encoded, i));
      }
      const auto command = bench.ring.peek();
      ASSERT_TRUE(command && *command == command_of(ticket + 77));
      bench.ring.pop();
    }
  });
  EXPECT_EQ(orders, 2520);
}

TEST(Ring, PeekDoesNotTakeAndNeverWrites) {
  Bench bench(2);
  push(bench.view, command_of(1), Deadline::never());
  const Slot before = bench.memory.slots[0];
  EXPECT_TRUE(bench.ring.peek());
  EXPECT_TRUE(bench.ring.peek());
  EXPECT_EQ(bench.ring.next(), 0u);
  bench.ring.pop();
  EXPECT_EQ(bench.ring.next(), 1u);
  EXPECT_FALSE(bench.ring.peek());
  EXPECT_EQ(std::memcmp(&before, &bench.memory.slots[0], sizeof before), 0);
}

TEST(Ring, WrapsAroundForManyLaps) {
  for (const uint32_t log2_slots : {0u, 1u, 3u, 6u}) {
    Bench bench(log2_slots);
    uint64_t pushed = 0;
    for (uint64_t popped = 0; popped < 5000; ++popped) {
      while (pushed - popped < (uint64_t{1} << log2_slots)) {
        bench.ring.publish();
        const auto reserved = push(bench.view, command_of(pushed), Deadline::in(1000000));
        ASSERT_EQ(reserved.status, ChannelStatus::ok);
        ASSERT_EQ(reserved.ticket, pushed++);
      }
      const auto command = bench.ring.peek();
      ASSERT_TRUE(command && *command == command_of(popped));
      bench.ring.pop();
    }
  }
}

TEST(Ring, FreedSlotsArePublishedInEighthsAndWhenIdle) {
  Bench bench(6);
  for (uint64_t i = 0; i < 64; ++i) push(bench.view, command_of(i), Deadline::never());
  for (int i = 0; i < 7; ++i) bench.ring.pop();
  EXPECT_EQ(bench.memory.consumer->consumed, 0u);
  bench.ring.pop();
  EXPECT_EQ(bench.memory.consumer->consumed, 8u);
  bench.ring.pop();
  bench.ring.publish();
  EXPECT_EQ(bench.memory.consumer->consumed, 9u);
}

TEST(Ring, FullRingHoldsProducersBackUntilASlotIsFreed) {
  Bench bench(1);
  push(bench.view, command_of(0), Deadline::never());
  push(bench.view, command_of(1), Deadline::never());
  std::atomic<bool> through{false};
  std::jthread producer([&] {
    EXPECT_EQ(push(bench.view, command_of(2), Deadline::in(20'000'000'000)).status, ChannelStatus::ok);
    through = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(through);
  EXPECT_TRUE(*bench.ring.peek() == command_of(0)) << "a waiting producer wrote into a slot in use";
  bench.ring.pop();
  producer.join();
  EXPECT_TRUE(through);
}

TEST(Ring, SharedProducerOnADeadConsumerTimesOutAndMarksTheChannelDead) {
  Bench bench(0);
  push(bench.view, command_of(0), Deadline::never());
  EXPECT_EQ(push(bench.view, command_of(1), Deadline::in(2'000'000)).status, ChannelStatus::timeout);
  // the hole it left would stop the consumer for ever, so a wait without a deadline ends as well
  EXPECT_EQ(push(bench.view, command_of(2), Deadline::never()).status, ChannelStatus::timeout);
}

TEST(Ring, PrivateProducerThatTimesOutMayTryAgain) {
  Bench bench(0);
  EXPECT_EQ(push<Producers::one>(bench.view, command_of(0), Deadline::never()).status, ChannelStatus::ok);
  EXPECT_EQ(push<Producers::one>(bench.view, command_of(1), Deadline::in(2'000'000)).status, ChannelStatus::timeout);
  bench.ring.pop();
  const auto again = push<Producers::one>(bench.view, command_of(1), Deadline::in(2'000'000));
  EXPECT_EQ(again.status, ChannelStatus::ok);
  EXPECT_EQ(again.ticket, 1u);
  EXPECT_TRUE(*bench.ring.peek() == command_of(1));
}

TEST(Ring, ErrorWordEndsAProducersWaitWithoutADeadline) {
  Bench bench(0);
  push(bench.view, command_of(0), Deadline::never());
  std::jthread producer(
      [&] { EXPECT_EQ(push(bench.view, command_of(1), Deadline::never()).status, ChannelStatus::peer_lost); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  portable::store_release(&bench.memory.consumer->error, static_cast<uint64_t>(ChannelStatus::peer_lost));
}

TEST(Ring, ReservedRunIsWrittenInAnyOrderAndReadInTicketOrder) {
  Bench bench(3);
  const auto run = device::reserve(bench.view, 5, Deadline::never());
  for (const uint64_t i : {4u, 0u, 2u, 3u}) device::write_slot(bench.view, run.ticket + i, command_of(i));
  EXPECT_TRUE(*bench.ring.peek() == command_of(0));
  bench.ring.pop();
  EXPECT_FALSE(bench.ring.peek()) << "slot 1 is not written";
  device::write_slot(bench.view, run.ticket + 1, command_of(1));
  for (uint64_t i = 1; i < 5; ++i, bench.ring.pop()) ASSERT_TRUE(*bench.ring.peek() == command_of(i));
}

TEST(Ring, AbsurdSizeIsRefused) {
  EXPECT_THROW(host_channel_memory(21), Error);
}

// Each producer also hands over plain memory through its commands: ThreadSanitizer would report a missing edge.
TEST(Ring, FourProducersOneConsumerAMillionCommands) {
  constexpr uint64_t kThreads = 4, kEach = 250000;
  Bench bench(6);
  std::array<std::vector<uint64_t>, kThreads> payload;
  std::vector<std::jthread> producers;
  for (uint64_t t = 0; t < kThreads; ++t) {
    payload[t].resize(kEach);
    producers.emplace_back([&, t] {
      for (uint64_t i = 0; i < kEach; ++i) {
        payload[t][i] = i * kThreads + t;
        ASSERT_EQ(push(bench.view, command_of(i * kThreads + t), Deadline::in(60'000'000'000)).status,
                  ChannelStatus::ok);
      }
    });
  }
  std::array<uint64_t, kThreads> seen{};
  uint32_t idle = 0;
  while (bench.ring.next() < kThreads * kEach) {
    const auto command = bench.ring.peek();
    if (!command) {
      bench.ring.publish();
      portable::relax(idle++);
      continue;
    }
    const uint64_t seed = command->signal_value, t = seed % kThreads;
    ASSERT_TRUE(*command == command_of(seed)) << "torn at ticket " << bench.ring.next();
    ASSERT_EQ(seed / kThreads, seen[t]) << "a producer's commands keep their order";
    ASSERT_EQ(payload[t][seen[t]], seed);
    ++seen[t];
    bench.ring.pop();
  }
}

}  // namespace
}  // namespace railshmem

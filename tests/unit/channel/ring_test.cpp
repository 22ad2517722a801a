// SPDX-License-Identifier: BSD-3-Clause
#include "src/channel/ring.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "include/shmem/device/push.h"
#include "src/base/error.h"
#include "tests/support/repetitions.h"
#include "tests/support/ring_fixture.h"
#include "tests/support/write_slot.h"

namespace railshmem {
namespace {

using device::Deadline;
using device::Producers;
using device::push;

TEST(Ring, PeekDoesNotTakeAndNeverWrites) {
  TestRing bench(2);
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
    TestRing bench(log2_slots);
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
  TestRing bench(6);
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
  TestRing bench(1);
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
  TestRing bench(0);
  push(bench.view, command_of(0), Deadline::never());
  EXPECT_EQ(push(bench.view, command_of(1), Deadline::in(2'000'000)).status, ChannelStatus::timeout);
  // the hole it left would stop the consumer forever, so a wait without a deadline ends as well
  EXPECT_EQ(push(bench.view, command_of(2), Deadline::never()).status, ChannelStatus::timeout);
}

TEST(Ring, PrivateProducerThatTimesOutMayTryAgain) {
  TestRing bench(0);
  EXPECT_EQ(push<Producers::one>(bench.view, command_of(0), Deadline::never()).status, ChannelStatus::ok);
  EXPECT_EQ(push<Producers::one>(bench.view, command_of(1), Deadline::in(2'000'000)).status, ChannelStatus::timeout);
  bench.ring.pop();
  const auto again = push<Producers::one>(bench.view, command_of(1), Deadline::in(2'000'000));
  EXPECT_EQ(again.status, ChannelStatus::ok);
  EXPECT_EQ(again.ticket, 1u);
  EXPECT_TRUE(*bench.ring.peek() == command_of(1));
}

TEST(Ring, ErrorWordEndsAProducersWaitWithoutADeadline) {
  TestRing bench(0);
  push(bench.view, command_of(0), Deadline::never());
  std::jthread producer(
      [&] { EXPECT_EQ(push(bench.view, command_of(1), Deadline::never()).status, ChannelStatus::peer_lost); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  portable::store_release(&bench.memory.consumer->error, static_cast<uint64_t>(ChannelStatus::peer_lost));
}

TEST(Ring, ReservedRunIsWrittenInAnyOrderAndReadInTicketOrder) {
  TestRing bench(3);
  const auto run = device::reserve(bench.view, 5, Deadline::never());
  for (const uint64_t i : {4u, 0u, 2u, 3u}) write_slot(bench.view, run.ticket + i, command_of(i));
  EXPECT_TRUE(*bench.ring.peek() == command_of(0));
  bench.ring.pop();
  EXPECT_FALSE(bench.ring.peek()) << "slot 1 is not written";
  write_slot(bench.view, run.ticket + 1, command_of(1));
  for (uint64_t i = 1; i < 5; ++i, bench.ring.pop()) ASSERT_TRUE(*bench.ring.peek() == command_of(i));
}

TEST(Ring, AbsurdSizeIsRefused) {
  EXPECT_THROW(host_channel_memory(21), Error);
}

// Each producer also hands over plain memory through its commands: ThreadSanitizer would report a missing edge.
TEST(Ring, FourProducersOneConsumerAMillionCommands) {
  constexpr uint64_t kThreads = 4, kEach = repetitions(250000);
  TestRing bench(10);  // less would measure the scheduler where CPUs are few
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

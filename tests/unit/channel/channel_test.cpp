// SPDX-License-Identifier: BSD-3-Clause
#include "src/channel/channel.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

#include "include/shmem/device/push.h"
#include "include/shmem/device/wait.h"
#include "tests/support/repetitions.h"
#include "tests/unit/channel/random_proxy.h"

namespace railshmem {
namespace {

using device::Deadline;
using device::push;
using device::quiet;
using device::wait_ticket;

constexpr uint64_t kSecond = 1'000'000'000;

TEST(Channel, QuietWaitsForThePrefixNotForTheCount) {
  Channel channel(4);
  const ChannelView view = channel.view();
  for (uint64_t i = 0; i < 3; ++i) push(view.ring, Command{}, Deadline::never());
  while (channel.peek()) channel.pop();
  channel.complete(2);
  channel.complete(1);
  channel.publish();
  EXPECT_EQ(quiet(view, Deadline::in(1000000)), ChannelStatus::timeout);
  EXPECT_EQ(channel.in_flight(), 3u);
  channel.complete(0);
  channel.publish();
  EXPECT_EQ(quiet(view, Deadline::in(1000000)), ChannelStatus::ok);
  EXPECT_EQ(wait_ticket(view, 2, Deadline::never()), ChannelStatus::ok);
  EXPECT_EQ(channel.in_flight(), 0u);
}

TEST(Channel, QuietOfNothingReturnsAtOnce) {
  Channel channel(4);
  EXPECT_EQ(quiet(channel.view(), Deadline::in(0)), ChannelStatus::ok);
}

TEST(Channel, ADeadlineCountsFromTheLastProgress) {
  constexpr uint64_t kCommands = 10;
  constexpr auto kPause = std::chrono::milliseconds(100);
  const Deadline deadline = Deadline::in(kSecond / 2);
  Channel channel(5);
  const ChannelView view = channel.view();
  for (uint64_t i = 0; i < kCommands + 1; ++i) push(view.ring, Command{}, Deadline::never());
  while (channel.peek()) channel.pop();
  const auto began = std::chrono::steady_clock::now();
  std::jthread proxy([&] {
    for (uint64_t i = 0; i < kCommands; ++i) {
      std::this_thread::sleep_for(kPause);
      channel.complete(i);
      channel.publish();
    }
  });
  EXPECT_EQ(wait_ticket(view, kCommands - 1, deadline), ChannelStatus::ok);
  EXPECT_GE(std::chrono::steady_clock::now() - began, kCommands * kPause) << "twice the deadline";
  proxy.join();
  EXPECT_EQ(quiet(view, deadline), ChannelStatus::timeout) << "one never finishes";
}

TEST(Channel, FullWindowStopsPeekUntilTheOldestFinishes) {
  Channel channel(0);  // one slot, window 64
  const ChannelView view = channel.view();
  uint64_t pushed = 0;
  for (; pushed < 65; ++pushed) {
    ASSERT_EQ(push(view.ring, Command{}, Deadline::in(kSecond)).status, ChannelStatus::ok);
    if (pushed == 64) break;
    ASSERT_TRUE(channel.peek()) << pushed;
    channel.pop();
  }
  EXPECT_FALSE(channel.peek());
  for (uint64_t ticket = 1; ticket < 64; ++ticket) channel.complete(ticket);
  EXPECT_FALSE(channel.peek());
  channel.complete(0);
  EXPECT_TRUE(channel.peek());
}

TEST(Channel, FailureEndsWaitsAndTheFirstReasonStays) {
  Channel channel(4);
  const ChannelView view = channel.view();
  push(view.ring, Command{}, Deadline::never());
  std::jthread waiter([&] { EXPECT_EQ(quiet(view, Deadline::never()), ChannelStatus::peer_lost); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  channel.fail(ChannelStatus::peer_lost);
  waiter.join();
  channel.fail(ChannelStatus::stopped);
  EXPECT_EQ(channel.status(), ChannelStatus::peer_lost);
}

TEST(Channel, WhatIsFinishedCountsOnAChannelThatDiedSince) {
  Channel channel(4);
  const auto pushed = push(channel.view().ring, Command{}, Deadline::never());
  channel.pop();
  channel.complete(pushed.ticket);
  channel.publish();
  channel.fail(ChannelStatus::stopped);
  EXPECT_EQ(wait_ticket(channel.view(), pushed.ticket, Deadline::never()), ChannelStatus::ok);
  EXPECT_EQ(wait_ticket(channel.view(), pushed.ticket + 1, Deadline::never()), ChannelStatus::stopped);
}

TEST(Channel, ArmRefusesWhenACommandIsThere) {
  Channel channel(4);
  const UniqueFd bell(eventfd(0, EFD_NONBLOCK));
  EXPECT_TRUE(channel.arm(bell.get()));
  push(channel.view().ring, Command{}, Deadline::never());
  uint64_t rings = 0;
  EXPECT_EQ(read(bell.get(), &rings, sizeof rings), static_cast<ssize_t>(sizeof rings));
  EXPECT_FALSE(channel.arm(bell.get()));
  push(channel.view().ring, Command{}, Deadline::never());
  EXPECT_LT(read(bell.get(), &rings, sizeof rings), 0) << "an awake proxy is not rung";
}

TEST(Channel, MillionCommandsFromFourThreadsFinishInRandomOrder) {
  constexpr uint64_t kThreads = 4, kEach = repetitions(250000), kBatch = 100;
  Channel channel(8);
  RandomProxy proxy(channel, WhenIdle::spin, kThreads * kEach);
  std::vector<std::jthread> producers;
  for (uint64_t t = 0; t < kThreads; ++t) {
    producers.emplace_back([&channel] {
      const ChannelView view = channel.view();
      std::array<uint64_t, kBatch> target{};
      for (uint64_t i = 1; i <= kEach; ++i) {
        push(view.ring, store(&target[i % kBatch], i), Deadline::in(60 * kSecond));
        if (i % kBatch != 0) continue;
        ASSERT_EQ(quiet(view, Deadline::in(60 * kSecond)), ChannelStatus::ok);
        for (uint64_t back = 0; back < kBatch; ++back) ASSERT_EQ(target[(i - back) % kBatch], i - back);
      }
    });
  }
  proxy.run();
}

TEST(Channel, NoWakeUpIsLostWhenTheProxySleepsBetweenCommands) {
  constexpr uint64_t kThreads = 2, kEach = repetitions(50000);
  Channel channel(2);
  RandomProxy proxy(channel, WhenIdle::sleep, kThreads * kEach);
  std::vector<std::jthread> producers;
  for (uint64_t t = 0; t < kThreads; ++t) {
    producers.emplace_back([&channel] {
      const ChannelView view = channel.view();
      uint64_t target = 0;
      for (uint64_t i = 1; i <= kEach; ++i) {
        const auto pushed = push(view.ring, store(&target, i), Deadline::in(60 * kSecond));
        ASSERT_EQ(wait_ticket(view, pushed.ticket, Deadline::in(60 * kSecond)), ChannelStatus::ok);
        ASSERT_EQ(target, i);
      }
    });
  }
  proxy.run();
  EXPECT_GT(proxy.sleeps_taken(), kEach / 100) << "the test did not test sleeping";
}

}  // namespace
}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// The real push, peek and doorbell, access by access, in every order that a few preemptions can make.
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

#include "include/shmem/device/push.h"
#include "include/shmem/device/wait.h"
#include "src/base/unique.h"
#include "src/channel/channel.h"
#include "tests/model/explorer.h"
#include "tests/support/ring_fixture.h"

namespace railshmem {
namespace {

using device::Deadline;

constexpr uint64_t kProducers = 2;

struct World {
  World(Explorer& with, uint32_t log2_slots, uint64_t per_producer)
      : explorer(with), channel(log2_slots), bell(eventfd(0, EFD_NONBLOCK)), each(per_producer) {}

  void produce(uint64_t me) {
    const ChannelView view = channel.view();
    for (uint64_t i = 0; i < each; ++i) {
      payload[me] = i + 1;
      const auto pushed = device::push(view.ring, command_of(i * kProducers + me), Deadline::never());
      explorer.require(pushed.status == ChannelStatus::ok, "push fails");
    }
    explorer.require(device::quiet(view, Deadline::never()) == ChannelStatus::ok, "quiet fails");
    explorer.require(seen[me] == each, "quiet returns before the last command is finished");
  }

  /// Takes what is there; false when nothing was.
  bool consume() {
    const auto command = channel.peek();
    if (!command) return false;
    const uint64_t seed = command->signal_value, producer = seed % kProducers;
    explorer.require(*command == command_of(seed), "a torn command is seen");
    explorer.require(seed / kProducers == seen[producer], "a command is lost or seen twice");
    explorer.require(payload[producer] > seen[producer], "a command comes before its payload");
    ++seen[producer];
    channel.complete(channel.next());
    channel.pop();
    channel.publish();
    return true;
  }

  void spin() {
    while (channel.next() < kProducers * each) {
      if (!consume()) explorer.idle();
    }
  }

  void sleep_when_idle() {
    while (channel.next() < kProducers * each) {
      if (consume() || !channel.arm(bell.get())) continue;
      uint64_t rings;
      while (read(bell.get(), &rings, sizeof rings) < 0) explorer.idle();
      channel.disarm();
    }
  }

  Explorer& explorer;
  Channel channel;
  UniqueFd bell;
  uint64_t each;
  std::array<uint64_t, kProducers> payload{};
  std::array<uint64_t, kProducers> seen{};
};

size_t explore(int preemptions, uint32_t log2_slots, uint64_t each, void (World::*consumer)()) {
  Explorer explorer(preemptions);
  std::unique_ptr<World> world;
  const size_t schedules = explorer.run([&] {
    world = std::make_unique<World>(explorer, log2_slots, each);
    World* const w = world.get();
    return std::vector<Explorer::Body>{
        [w] { w->produce(0); },
        [w] { w->produce(1); },
        [w, consumer] { (w->*consumer)(); },
    };
  });
  ::testing::Test::RecordProperty("schedules", std::to_string(schedules));
  return schedules;
}

TEST(RingModel, TwoSlotsTwoProducersWithWrapAround) {
  EXPECT_GT(explore(2, 1, 2, &World::spin), 1000u);
}

TEST(RingModel, OneSlotEveryPushWaits) {
  EXPECT_GT(explore(2, 0, 2, &World::spin), 1000u);
}

TEST(RingModel, SleepingProxyIsAlwaysWoken) {
  EXPECT_GT(explore(2, 1, 2, &World::sleep_when_idle), 1000u);
}

// Half a minute and more: run by hand after changes of the ring, with --gtest_also_run_disabled_tests.
TEST(RingModel, DISABLED_ThreePreemptionsWhileSpinning) {
  EXPECT_GT(explore(3, 1, 1, &World::spin), 10000u);
}

TEST(RingModel, DISABLED_ThreePreemptionsWhileSleeping) {
  EXPECT_GT(explore(3, 1, 1, &World::sleep_when_idle), 10000u);
}

}  // namespace
}  // namespace railshmem

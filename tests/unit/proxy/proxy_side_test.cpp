// SPDX-License-Identifier: BSD-3-Clause
// What the side of the first proxy thread does that the side of a further one does not.
#include "src/proxy/proxy_side.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "include/shmem/device/push.h"
#include "tests/support/scripted_rail.h"

namespace railshmem::test {
namespace {

using ScriptedSide = ProxySide<ScriptedRail>;
constexpr InitiatorConfig kFirstSide{Port::proxy, 0, 4, 16};
constexpr InitiatorConfig kFurtherSide{Port::rings, 0, 4, 16};
constexpr auto kStepper = ScriptedSide::Stepper::proxy_thread;

GetMessage request_of_a_peer() {
  return {{MessageKind::get, 0, 8, Answer::reply, Port::host, SegmentId::heap, 0, 2, kNoCell, 0, 0}, 0, 8, 0};
}

TEST(ProxySide, TheFirstThreadsServesPeers) {
  ScriptedRail rail;
  std::array<uint64_t, 8> memory{};
  const Segment segments[] = {{SegmentId::heap, reinterpret_cast<std::byte*>(memory.data()), sizeof memory}};
  ScriptedSide side(std::span(&rail, 1), segments, kFirstSide);
  EXPECT_TRUE(side.needs_doorbells()) << "nothing wakes its thread";
  rail.deliver(request_of_a_peer());
  EXPECT_TRUE(side.try_step(kStepper));
  side.try_step(kStepper);
  EXPECT_EQ(rail.count('s'), 1) << "the answer";
}

TEST(ProxySide, AFurtherThreadsTakesNoRequest) {
  ScriptedRail rail;
  ScriptedSide side(std::span(&rail, 1), kFurtherSide, false, nullptr);
  EXPECT_FALSE(side.needs_doorbells()) << "no peer sends it requests";
  rail.deliver(request_of_a_peer());
  side.try_step(kStepper);
  EXPECT_EQ(side.rails().counts(0).refused, 1u);
  EXPECT_EQ(rail.count('s'), 0) << "no answer";
}

TEST(ProxySide, AFurtherThreadsCarriesCommandsAndSleepsDeepWithoutAny) {
  ScriptedRail rail;
  ScriptedSide side(std::span(&rail, 1), kFurtherSide, true, nullptr);
  std::vector<int> fds{-1};
  EXPECT_EQ(side.rest(fds, -1), ScriptedSide::Rest::sleep);
  EXPECT_TRUE(fds.empty());
  side.wake_up();

  Channel channel(4);
  Channel* const channels[] = {&channel};
  side.serve(channels, Pushers::kernels);
  EXPECT_TRUE(side.serves_kernels());
  const uint64_t source = 7;
  device::push(channel.view().ring,
               {.op = CommandOp::put, .pe = 1, .nbytes = sizeof source, .local = reinterpret_cast<uint64_t>(&source)},
               device::Deadline::never());
  const uint64_t moves = side.kernel_moves();
  EXPECT_TRUE(side.try_step(kStepper));
  EXPECT_EQ(side.kernel_moves(), moves + 1);
  EXPECT_EQ(rail.count('w'), 1);
  EXPECT_EQ(side.rest(fds, -1), ScriptedSide::Rest::nap) << "a write is under way";
  side.wake_up();
  rail.complete_all_writes();
  side.try_step(kStepper);
  EXPECT_EQ(side.rest(fds, -1), ScriptedSide::Rest::sleep);
  side.wake_up();
}

}  // namespace
}  // namespace railshmem::test

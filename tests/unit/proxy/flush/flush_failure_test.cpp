// SPDX-License-Identifier: BSD-3-Clause
// Rails and drivers that fail in the middle of a flush.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/flush_rig.h"
#include "tests/support/patience.h"

namespace railshmem::test {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

Tuning hasty() {
  Tuning tuning;
  tuning.rail_timeout_ns = 40'000'000;
  tuning.quarantine_ns = 10'000'000;
  return tuning;
}

/// Passes in which the rails of `alive` do all that is asked of them, until `done()`; false where it hangs.
template <class Done>
bool live(FlushRig& f, RailMask alive, Done&& done) {
  const auto until = steady_clock::now() + kPatience;
  while (!done()) {
    if (steady_clock::now() > until) return false;
    f.pass();
    for (size_t r = 0; r < f.rails.size(); ++r)
      if ((alive >> r) & 1) {
        f.complete(r);
        f.loop(r);
      }
  }
  return true;
}
int descriptors_to(const FlushRig& f, int pe) {
  int n = 0;
  for (const ScriptedRail& rail : f.rails)
    for (const auto& p : rail.posted)
      n +=
          p.what == 's' && p.to.pe == pe && read_message<MessageHeader>(p.bytes.data()).kind == MessageKind::descriptor;
  return n;
}

enum class Fault : uint8_t { event, write_event, post, silence };
class FlushFault : public testing::TestWithParam<Fault> {};

TEST_P(FlushFault, ClosesTheRailAndGoesOn) {
  FlushRig f(FlushPolicy::write_read, 2, 64, hasty());
  if (GetParam() == Fault::post) f.rails[1].failing = 1;
  const auto began = steady_clock::now();
  f.add(0);
  f.pass();
  if (GetParam() == Fault::event) f.rails[1].fail(f.rails[1].posted[1].slot);
  if (GetParam() == Fault::write_event) f.rails[1].fail(f.rails[1].posted[0].slot);
  ASSERT_TRUE(live(f, 0b01, [&] { return f.memory[0] == 1; }));
  EXPECT_EQ(f.keeper.reopened, std::vector<size_t>{1}) << "no write of a peer may come over it behind the flush";
  EXPECT_GE(steady_clock::now() - began, 10ms) << "what the rail had brought needs a pause to be there";

  // The rail is open again, but nobody knows whether it works: peers hear nothing of it, flushes leave it out.
  const auto before = f.accesses(1);
  f.add(0);
  const auto second = steady_clock::now();
  ASSERT_TRUE(live(f, 0b01, [&] { return f.memory[0] == 2; }));
  EXPECT_LT(steady_clock::now() - second, 10ms) << "one pause per closing";
  EXPECT_EQ(f.accesses(1), before);
  ASSERT_TRUE(live(f, 0b01, [&] { return descriptors_to(f, 1) > 0; })) << "this PE must know how to reach it";
  const auto quiet_until = steady_clock::now() + 50ms;
  live(f, 0b01, [&] { return steady_clock::now() > quiet_until; });
  EXPECT_EQ(descriptors_to(f, 0) + descriptors_to(f, 2) + descriptors_to(f, 3), 0);

  // Once it has reached this PE, it counts again, before any peer may use it.
  ASSERT_TRUE(
      live(f, 0b11, [&] { return descriptors_to(f, 0) > 0 && descriptors_to(f, 2) > 0 && descriptors_to(f, 3) > 0; }));
  const size_t reads = f.accesses(1).size();
  f.add(0);
  ASSERT_TRUE(live(f, 0b11, [&] { return f.memory[0] == 3; }));
  EXPECT_EQ(f.accesses(1).size(), reads + 2);
}

INSTANTIATE_TEST_SUITE_P(All, FlushFault,
                         testing::Values(Fault::event, Fault::write_event, Fault::post, Fault::silence));

TEST(Flush, RailThatComesBackInTimeIsNotClosed) {
  FlushRig f(FlushPolicy::read, 2, 64, hasty());
  f.add(0);
  f.pass();
  const auto until = steady_clock::now() + 25ms;  // suspect by then
  live(f, 0b01, [&] { return steady_clock::now() > until; });
  EXPECT_EQ(f.memory[0], 0u) << "a doubt is no verdict";
  ASSERT_TRUE(live(f, 0b11, [&] { return f.memory[0] == 1; }));
  EXPECT_TRUE(f.keeper.reopened.empty());
}

TEST(Flush, TheOnlyWayToAPeIsNotClosedInHaste) {
  FlushRig f(FlushPolicy::read, 2, 64, hasty());
  f.initiator->rails().paths.set_up(0, 3, false);  // PE 3 may be closing its end of the other path, too
  f.add(0);
  const auto until = steady_clock::now() + 200ms;  // five timeouts
  live(f, 0b01, [&] { return steady_clock::now() > until; });
  EXPECT_TRUE(f.keeper.reopened.empty());
  EXPECT_EQ(f.memory[0], 0u);
  ASSERT_TRUE(live(f, 0b01, [&] { return f.memory[0] == 1; })) << "but not waited for without end";
  EXPECT_EQ(f.keeper.reopened, std::vector<size_t>{1});
}

TEST(Flush, LeavingPublishesWhatIsHeld) {
  FlushRig f(FlushPolicy::read, 2);
  f.rails[1].room = 0;
  f.add(0);
  f.pass();
  f.initiator->ignore_failures();
  f.rails[0].fail(f.last_slot(0));
  f.passes(3);
  EXPECT_EQ(f.memory[0], 1u) << "after the last barrier nothing can be lost by it";
  EXPECT_FALSE(f.gate->flushes());
}

class FlushDeathTest : public testing::Test {
 protected:
  FlushDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(FlushDeathTest, SingleRailHasNoOther) {
  FlushRig f(FlushPolicy::read);
  f.add(0);
  f.pass();
  f.rails[0].fail(f.last_slot(0));
  EXPECT_EXIT(f.pass(), testing::ExitedWithCode(1), "flush of what has arrived here over scripted failed");
}

TEST_F(FlushDeathTest, SilentSingleRailIsNamedAfterTheTimeout) {
  FlushRig f(FlushPolicy::read, 1, 16, {}, nullptr, 0.02);
  f.add(0);
  EXPECT_EXIT(for (;;) f.pass(), testing::ExitedWithCode(1),
              "flush of what has arrived here over scripted: no progress for 0.02 s");
}

// ---- the device's own flush ----------------------------------------------------------------------------------------

struct FakeDevice {
  FakeDevice() {
    service.device = "GPU 7";
    service.available = true;
    service.state = this;
    service.run = [](void* self) noexcept {
      auto& device = *static_cast<FakeDevice*>(self);
      ++device.runs;
      if (device.watched != nullptr) device.seen = *device.watched;
      return device.result;
    };
    service.explain = [](void*, int error) { return text("error %d", error); };
  }
  DeviceFlush service;
  int runs = 0;
  int result = 0;
  const uint64_t* watched = nullptr;
  uint64_t seen = ~uint64_t{0};
};

TEST(Flush, DriverRunsOncePerPassBeforeTheRequests) {
  FakeDevice device;
  FlushRig f(FlushPolicy::cuda, 2, 16, {}, &device.service);
  device.watched = f.memory.data();
  f.pass();
  EXPECT_EQ(device.runs, 0);
  for (int i = 0; i < 6; ++i) f.add(static_cast<size_t>(i % 2));
  f.pass();
  EXPECT_EQ(device.runs, 1);
  EXPECT_EQ(device.seen, 0u) << "nothing was executed before it";
  EXPECT_EQ(f.memory[0], 6u);
  EXPECT_EQ(f.accesses(0) + f.accesses(1), "");
}

TEST_F(FlushDeathTest, DriverThatFailsIsNamed) {
  FakeDevice device;
  device.result = 719;
  FlushRig f(FlushPolicy::cuda, 1, 16, {}, &device.service);
  f.add(0);
  EXPECT_EXIT(f.pass(), testing::ExitedWithCode(1), "GPU 7 does not flush what NICs wrote: error 719; set SHMEM_FLUSH");
}

}  // namespace
}  // namespace railshmem::test

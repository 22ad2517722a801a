// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/side_streams.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "src/cuda/context_guard.h"
#include "tests/gpu/fake_driver/fake_driver.h"

namespace railshmem::cuda {
namespace {

Result nothing(Stream) {
  return kSuccess;
}

/// As two threads that give collectives of two teams: one waits in the driver until the other has given its own.
TEST(SideStreams, AThreadThatWaitsInTheDriverHoldsUpNoOther) {
  FakeDriver fake;
  {
    const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
    SideStreams sides(gpu);
    std::promise<void> waits, given;
    std::future<void> others = given.get_future();
    auto outcome = std::future_status::deferred;
    std::thread first([&] {
      const ContextGuard guard(gpu);
      const auto full = [&](Stream) {
        waits.set_value();
        outcome = others.wait_for(std::chrono::seconds(20));
        return kSuccess;
      };
      EXPECT_EQ(sides.give(full, nothing, nullptr), kSuccess);
    });
    std::thread second([&] {
      waits.get_future().wait();
      const ContextGuard guard(gpu);
      EXPECT_EQ(sides.give(nothing, nothing, nullptr), kSuccess);
      given.set_value();
    });
    first.join();
    second.join();
    EXPECT_EQ(outcome, std::future_status::ready);
  }
  EXPECT_EQ(fake.leaks(), "");
}

TEST(SideStreams, AStreamIsUsedAgain) {
  FakeDriver fake;
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  const ContextGuard guard(gpu);
  SideStreams sides(gpu);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(sides.give(nothing, nothing, nullptr), kSuccess);
  EXPECT_EQ(fake.calls("cuStreamCreateWithPriority"), 1);
}

TEST(SideStreams, ARefusalIsReturnedAndTheNextTryMakesAnother) {
  FakeDriver fake;
  {
    const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
    const ContextGuard guard(gpu);
    SideStreams sides(gpu);
    constexpr Result kOutOfMemory = 2;
    fake.fail("cuStreamCreateWithPriority", 1, kOutOfMemory);
    EXPECT_EQ(sides.give(nothing, nothing, nullptr), kOutOfMemory);
    EXPECT_EQ(sides.give(nothing, nothing, nullptr), kSuccess);
  }
  EXPECT_EQ(fake.leaks(), "");
}

}  // namespace
}  // namespace railshmem::cuda

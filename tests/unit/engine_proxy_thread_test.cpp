// SPDX-License-Identifier: BSD-3-Clause
// The proxy thread: errands for it, and how soon it sees commands for which nothing wakes it.
#include <gtest/gtest.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>

#include "include/shmem/device/push.h"
#include "include/shmem/device/wait.h"
#include "tests/support/engine_job.h"
#include "transports/loopback/fabric.h"

namespace railshmem::test {
namespace {

using namespace std::chrono_literals;
using Plain = loopback::Fabric;

constexpr Setup<Plain> kPlain{"Plain", [](const NetworkConfig& config, const Tuning& tuning) {
                                return std::make_unique<Engine<Plain>>(TransportKind::loopback, config, tuning, config,
                                                                       loopback::Options{});
                              }};

std::string thread_name() {
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  return name;
}

TEST(EngineProxyThread, RunsErrandsAlsoWhenItSleeps) {
  EngineJob<Plain> job(kPlain);
  for (int i = 0; i < 20; ++i) {
    std::string name;
    job.engine(0).run_on_proxy([&] { name = thread_name(); });
    EXPECT_EQ(name, "railshmem-proxy");
    std::this_thread::sleep_for(std::chrono::milliseconds(i));
  }
}

TEST(EngineProxyThread, WhatAnErrandThrowsReachesWhoAskedForIt) {
  EngineJob<Plain> job(kPlain);
  EXPECT_THROW(job.engine(0).run_on_proxy([] { throw std::runtime_error("no such context"); }), std::runtime_error);
  bool ran = false;
  job.engine(0).run_on_proxy([&] { ran = true; });
  EXPECT_TRUE(ran) << "the thread lives on";
}

TEST(EngineProxyThread, SeveralThreadsMayHaveErrands) {
  EngineJob<Plain> job(kPlain);
  int count = 0;  // changed by the proxy thread alone
  {
    std::vector<std::jthread> askers;
    for (int t = 0; t < 4; ++t)
      askers.emplace_back([&] {
        for (int i = 0; i < 50; ++i) job.engine(0).run_on_proxy([&] { ++count; });
      });
  }
  EXPECT_EQ(count, 200);
}

/// A kernel: it has no doorbell.
struct Kernel {
  explicit Kernel(EngineJob<Plain>& job) : view(channel.view()) {
    view.ring.doorbell = nullptr;
    Channel* const mine = &channel;
    job.engine(0).add_channels({&mine, 1});
  }
  /// From a command to its completion; median of 20 with `pause` before each.
  std::chrono::nanoseconds median_of_commands(std::chrono::nanoseconds pause) {
    std::vector<std::chrono::nanoseconds> times;
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(pause);
      const auto began = std::chrono::steady_clock::now();
      device::push(view.ring, {.op = CommandOp::fence}, device::Deadline::never());
      EXPECT_EQ(device::quiet(view, device::Deadline::in(20'000'000'000)), ChannelStatus::ok);
      times.push_back(std::chrono::steady_clock::now() - began);
    }
    std::nth_element(times.begin(), times.begin() + 10, times.end());
    return times[10];
  }

  Channel channel{6};
  ChannelView view;
};

JobOptions with(void (*change)(Env&)) {
  JobOptions options;
  options.oversubscribed = false;
  options.change = change;
  return options;
}

TEST(EngineProxyThread, AKernelsFirstCommandAfterASilenceWaitsForItsShortNapsOnly) {
  // Where the thread slept as it does without kernels, for long.
  EngineJob<Plain> job(kPlain, with([](Env& env) { env.proxy_nap_us = 400'000; }));
  Kernel kernel(job);
  const auto median = kernel.median_of_commands(20ms);
  std::printf("first command after a silence: %.1f us\n", static_cast<double>(median.count()) / 1e3);
  EXPECT_LT(median, 100ms);
}

TEST(EngineProxyThread, AKernelsNextCommandsFindItAwake) {
  EngineJob<Plain> job(kPlain, with([](Env& env) {
                         env.proxy_kernel_nap_us = 400'000;
                         env.proxy_kernel_spin_us = 1'000'000;
                       }));
  Kernel kernel(job);
  kernel.median_of_commands(0ns);
  const auto median = kernel.median_of_commands(1ms);
  std::printf("next command: %.1f us\n", static_cast<double>(median.count()) / 1e3);
  EXPECT_LT(median, 100ms);
}

TEST(EngineProxyThread, WaitsForKernelsWithoutACoreOfItsOwn) {
  EngineJob<Plain> job(kPlain, with(nullptr));
  Kernel kernel(job);
  std::this_thread::sleep_for(50ms);
  clockid_t clock;
  ASSERT_EQ(pthread_getcpuclockid(job.engine(0).loop().native_handle(), &clock), 0);
  const auto cpu_ns = [clock] {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
  };
  const double before = cpu_ns();
  std::this_thread::sleep_for(500ms);
  const double share = (cpu_ns() - before) / 500e6;
  std::printf("idle proxy of a PE with kernels: %.1f %% of a core\n", 100 * share);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(share, 0.5);
#endif
}

}  // namespace
}  // namespace railshmem::test

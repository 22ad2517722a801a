// SPDX-License-Identifier: BSD-3-Clause
// The proxy thread: tasks for it, and how soon it sees commands for which nothing wakes it.
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

constexpr Setup<Plain> kPair{"Plain", [](const NetworkConfig& config, const Tuning& tuning) {
                               return std::make_unique<Engine<Plain>>(TransportKind::loopback, config, tuning, config,
                                                                      loopback::Options{});
                             }};

std::string thread_name() {
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  return name;
}

TEST(EngineProxyThread, RunsTasksAlsoWhenItSleeps) {
  EngineJob<Plain> job(kPair);
  for (int i = 0; i < 20; ++i) {
    std::string name;
    job.engine(0).run_on_proxies([&] { name = thread_name(); });
    EXPECT_EQ(name, "railshmem-proxy");
    std::this_thread::sleep_for(std::chrono::milliseconds(i));
  }
}

TEST(EngineProxyThread, WhatATaskThrowsReachesWhoAskedForIt) {
  EngineJob<Plain> job(kPair);
  EXPECT_THROW(job.engine(0).run_on_proxies([] { throw std::runtime_error("no such context"); }), std::runtime_error);
  bool ran = false;
  job.engine(0).run_on_proxies([&] { ran = true; });
  EXPECT_TRUE(ran) << "the thread lives on";
}

TEST(EngineProxyThread, SeveralThreadsMayQueueTasks) {
  EngineJob<Plain> job(kPair);
  int count = 0;  // changed by the proxy thread alone
  {
    std::vector<std::jthread> askers;
    for (int t = 0; t < 4; ++t)
      askers.emplace_back([&] {
        for (int i = 0; i < 50; ++i) job.engine(0).run_on_proxies([&] { ++count; });
      });
  }
  EXPECT_EQ(count, 200);
}

/// A kernel: it has no doorbell. Outlives the job.
struct Kernel {
  Kernel() : view(channel.view()) { view.ring.doorbell = nullptr; }

  void begin(EngineJob<Plain>& job) {
    Channel* const mine = &channel;
    job.engine(0).add_channels({&mine, 1});
  }
  /// From a command to its completion; median of `n` with `pause` before each.
  std::chrono::nanoseconds median_of_commands(size_t n, std::chrono::nanoseconds pause) {
    std::vector<std::chrono::nanoseconds> times;
    for (size_t i = 0; i < n; ++i) {
      std::this_thread::sleep_for(pause);
      const auto began = std::chrono::steady_clock::now();
      device::push(view.ring, {.op = CommandOp::fence}, device::Deadline::never());
      EXPECT_EQ(device::quiet(view, device::Deadline::in(20'000'000'000)), ChannelStatus::ok);
      times.push_back(std::chrono::steady_clock::now() - began);
    }
    std::sort(times.begin(), times.end());
    return times[n / 2];
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

// Bounds are far above what is printed, for machines under load, and far below the naps that would be taken otherwise.

TEST(EngineProxyThread, AKernelsFirstCommandAfterASilenceWaitsForItsShortNapsOnly) {
  Kernel kernel;
  EngineJob<Plain> job(kPair, with(nullptr));
  kernel.begin(job);
  // Without kernels it sleeps for 100 ms at a time, so it would see the command 80 ms later.
  const auto median = kernel.median_of_commands(5, 120ms);
  std::printf("first command after a silence: %.1f us\n", static_cast<double>(median.count()) / 1e3);
  EXPECT_LT(median, 50ms);
}

TEST(EngineProxyThread, AKernelsNextCommandsFindItAwake) {
  Kernel kernel;
  EngineJob<Plain> job(kPair, with([](Env& env) {
                         env.proxy_kernel_nap_us = 400'000;
                         env.proxy_kernel_spin_us = 1'000'000;
                       }));
  kernel.begin(job);
  kernel.median_of_commands(1, 0ns);
  const auto median = kernel.median_of_commands(20, 1ms);
  std::printf("next command: %.1f us\n", static_cast<double>(median.count()) / 1e3);
  EXPECT_LT(median, 50ms);
}

TEST(EngineProxyThread, WaitsForKernelsWithoutACoreOfItsOwn) {
  Kernel kernel;
  EngineJob<Plain> job(kPair, with(nullptr));
  kernel.begin(job);
  std::this_thread::sleep_for(50ms);
  clockid_t clock;
  ASSERT_EQ(pthread_getcpuclockid(job.engine(0).loop().thread().native_handle(), &clock), 0);
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

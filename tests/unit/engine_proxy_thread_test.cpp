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

}  // namespace
}  // namespace railshmem::test

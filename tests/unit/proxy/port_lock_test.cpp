// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/port_lock.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace railshmem {
namespace {

struct Shared {
  uint64_t a = 0;
  uint64_t b = 0;
};

/// Every owner makes a and b differ for a moment; nobody else may see that. Returns the proxy's turns.
uint64_t stress(PortLock& lock, int hosts, int rounds) {
  Shared shared;
  std::atomic<int> running{hosts};
  std::atomic<int> torn{0};
  const auto touch = [&] {
    if (shared.a != shared.b) torn.fetch_add(1, std::memory_order_relaxed);
    ++shared.a;
    ++shared.b;
  };
  uint64_t proxy_turns = 0;
  std::thread proxy([&] {
    while (running.load() > 0) {
      if (lock.try_enter()) {
        touch();
        ++proxy_turns;
        lock.leave_proxy();
      }
      if (proxy_turns % 16 == 0) std::this_thread::yield();
    }
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < hosts; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        lock.enter();
        touch();
        if (i % 5 == 0) lock.pass();
        lock.leave();
        if (i % 64 == 0) std::this_thread::yield();
      }
      running.fetch_sub(1);
    });
  for (auto& thread : threads) thread.join();
  proxy.join();
  EXPECT_EQ(torn.load(), 0);
  EXPECT_EQ(shared.a, shared.b);
  EXPECT_EQ(shared.a, static_cast<uint64_t>(hosts) * static_cast<uint64_t>(rounds) + proxy_turns);
  return proxy_turns;
}

TEST(PortLock, OneHostThreadAndTheProxyExcludeEachOther) {
  PortLock biased(HostThreads::one);
  EXPECT_GT(stress(biased, 1, 100000), 0u);
  PortLock symmetric(HostThreads::one, AsymmetricFence::Kind::symmetric);
  EXPECT_GT(stress(symmetric, 1, 100000), 0u);
}

TEST(PortLock, SeveralHostThreadsAndTheProxyExcludeEachOther) {
  PortLock biased(HostThreads::several);
  stress(biased, 3, 20000);
  PortLock symmetric(HostThreads::several, AsymmetricFence::Kind::symmetric);
  stress(symmetric, 3, 20000);
}

TEST(PortLock, ProxyStaysOutWhileAHostIsInside) {
  PortLock lock(HostThreads::one);
  lock.enter();
  EXPECT_FALSE(lock.try_enter());
  const uint64_t visits = lock.visits();
  lock.leave();
  EXPECT_EQ(lock.visits(), visits + 1);
  EXPECT_TRUE(lock.try_enter());
  lock.leave_proxy();
}

}  // namespace
}  // namespace railshmem

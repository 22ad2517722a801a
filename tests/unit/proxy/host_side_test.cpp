// SPDX-License-Identifier: BSD-3-Clause
// Several threads on one host endpoint: a wait of one context does not hold up another.
#include "src/proxy/host_side.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "src/base/cpu.h"
#include "tests/support/host_calls.h"
#include "tests/support/scripted_rail.h"

namespace railshmem::test {
namespace {

constexpr int kSlowPe = 1;
constexpr int kFastPe = 2;

/// Writes to the fast PE complete some time later, with the next poll if that time is 0; those to the slow one when the
/// test says so.
class SlowRail : public ScriptedRail {
 public:
  Post write(const RailWrite& w) noexcept {
    if (w.to.pe == kSlowPe)
      slow_.push_back(w.slot);
    else
      fast_.push_back({w.slot, now_ns() + control->fast_ns});
    return Post::ok;
  }
  size_t poll(std::span<RailEvent> out) noexcept {
    if (std::this_thread::get_id() == control->waiter && control->port->wanted()) ++control->impolite;
    const uint64_t now = now_ns();
    size_t n = 0;
    for (; n < out.size() && !fast_.empty() && fast_.front().due <= now; ++n) {
      out[n] = {RailEvent::Kind::completed, 0, fast_.front().slot, nullptr, 0, nullptr};
      fast_.pop_front();
    }
    for (; n < out.size() && control->release_slow && !slow_.empty(); ++n) {
      out[n] = {RailEvent::Kind::completed, 0, slow_.front(), nullptr, 0, nullptr};
      slow_.pop_front();
    }
    return n;
  }

  int wait_fd() const noexcept { return 0; }  // nobody needs doorbell messages

  struct Control {
    std::atomic<bool> release_slow{false};
    uint64_t fast_ns = 0;
    std::thread::id waiter{};
    PortLock* port = nullptr;
    uint64_t impolite = 0;  ///< polls of the waiter while another thread waited for the lock
  };
  std::shared_ptr<Control> control = std::make_shared<Control>();  // a rail can be moved

 private:
  struct Write {
    OpSlot* slot;
    uint64_t due;
  };
  std::deque<Write> fast_;
  std::deque<OpSlot*> slow_;
};

struct Fixture {
  explicit Fixture(HostThreads threads = HostThreads::several) {
    const InitiatorConfig config{Port::host, 0, 4, 64, {}};
    proxy.emplace(std::span<SlowRail>(&proxy_rail, 1), std::span<const Segment>(), config);
    host.emplace(std::span<SlowRail>(&rail, 1), config, HostConfig{threads, true, 60}, *proxy, sleeper);
  }
  SlowRail rail;
  SlowRail proxy_rail;
  Sleeper sleeper;
  std::optional<ProxySide<SlowRail>> proxy;
  std::optional<HostSide<SlowRail>> host;
};

TEST(HostSideThreads, QuietOfASlowTargetDoesNotStallAnotherContext) {
  Fixture f;
  NetContext* slow = f.host->make_context();
  NetContext* fast = f.host->make_context();
  std::atomic<bool> waiting{false};
  std::atomic<bool> returned{false};
  const uint64_t word = 1;
  f.rail.control->port = &f.host->port();
  std::thread waiter([&] {
    host_put_nbi(*f.host, *slow, {kSlowPe, SegmentId::heap, 0}, &word, 8);
    f.rail.control->waiter = std::this_thread::get_id();
    waiting = true;
    f.host->quiet(*slow);
    returned = true;
  });
  while (!waiting) std::this_thread::yield();
  constexpr uint64_t kPuts = 3000;
  for (uint64_t i = 0; i < kPuts; ++i) {
    host_put_nbi(*f.host, *fast, {kFastPe, SegmentId::heap, 0}, &word, 8);
    if (i % 4 == 3) f.host->quiet(*fast);
  }
  f.host->quiet(*fast);
  EXPECT_FALSE(returned) << "the slow write is not complete";
  EXPECT_EQ(slow->pending(), 1u);
  f.rail.control->release_slow = true;
  waiter.join();
  EXPECT_EQ(slow->pending(), 0u);
  // Two calls a put at most; each can find the waiter in the middle of one poll, not of more.
  EXPECT_LE(f.rail.control->impolite, 2 * kPuts);
  f.host->drop_context(*slow);
  f.host->drop_context(*fast);
}

/// Each thread waits for something else; the thread that polls reaps for all.
TEST(HostSideThreads, ManyWaitersPollForEachOther) {
  Fixture f;
  f.rail.control->release_slow = true;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&f, t] {
      NetContext* context = f.host->make_context();
      const uint64_t word = 1;
      for (int i = 0; i < 500; ++i) {
        host_put_nbi(*f.host, *context, {t % 2 == 0 ? kSlowPe : kFastPe, SegmentId::heap, 0}, &word, 8);
        f.host->quiet(*context);
        EXPECT_EQ(context->pending(), 0u);
      }
      f.host->drop_context(*context);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(f.host->pending(), 0u);
}

/// One thread posts without a pause, the other only wants what it posted before to be complete.
void complete_beside_a_stream(const std::function<void(HostSide<SlowRail>& host, NetContext& context)>& complete) {
  Fixture f;
  f.rail.control->fast_ns = 5'000'000;  // as over a network
  NetContext* shared = f.host->make_context();
  std::atomic<bool> streaming{false};
  std::atomic<bool> completed{false};
  const uint64_t word = 1;
  std::thread stream([&] {
    const uint64_t give_up = now_ns() + 20'000'000'000;
    while (!completed && now_ns() < give_up) {
      host_put_nbi(*f.host, *shared, {kFastPe, SegmentId::heap, 0}, &word, 8);
      streaming = true;
    }
    EXPECT_TRUE(completed) << "it waits as long as the other thread posts";
  });
  while (!streaming) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) {
    host_put_nbi(*f.host, *shared, {kFastPe, SegmentId::heap, 0}, &word, 8);
    complete(*f.host, *shared);
  }
  completed = true;
  stream.join();
  f.host->drop_context(*shared);
}
TEST(HostSideThreads, QuietEndsWhileAnotherThreadGoesOnPosting) {
  complete_beside_a_stream([](HostSide<SlowRail>& host, NetContext& context) { host.quiet(context); });
}
TEST(HostSideThreads, QuietOfOneTargetEndsWhileAnotherThreadGoesOnPosting) {
  complete_beside_a_stream([](HostSide<SlowRail>& host, NetContext& context) { host.quiet(context, kFastPe); });
}
/// The fence itself returns at once; the put behind it waits.
TEST(HostSideThreads, PutBehindAFenceEndsWhileAnotherThreadGoesOnPosting) {
  complete_beside_a_stream([](HostSide<SlowRail>& host, NetContext& context) {
    const uint64_t word = 1;
    host.fence(context);
    host_put_nbi(host, context, {kFastPe, SegmentId::heap, 0}, &word, 8);
  });
}

TEST(HostSideFence, OnlyTheNextOperationToThatTargetWaits) {
  Fixture f(HostThreads::one);
  NetContext* context = f.host->make_context();
  NetContext* other = f.host->make_context();
  const uint64_t word = 1;
  host_put_nbi(*f.host, *context, {kSlowPe, SegmentId::heap, 0}, &word, 8);
  f.host->fence(*context);
  host_put_nbi(*f.host, *context, {kFastPe, SegmentId::heap, 0}, &word, 8);
  host_put_nbi(*f.host, *other, {kSlowPe, SegmentId::heap, 0}, &word, 8);
  f.host->quiet(*context, kFastPe);
  EXPECT_EQ(context->peer(kSlowPe).writes, 1u) << "none of this waits for the slow target";
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    f.rail.control->release_slow = true;
  });
  host_put_nbi(*f.host, *context, {kSlowPe, SegmentId::heap, 8}, &word, 8);
  EXPECT_TRUE(f.rail.control->release_slow) << "posted before the put in front of the fence was complete";
  later.join();
  f.host->drop_context(*context);
  f.host->drop_context(*other);
}

TEST(HostSideSession, TheLastOfTheAnnouncedPutsWaitsForNoOther) {
  ScriptedRail rail;
  ScriptedRail proxy_rail;
  Sleeper sleeper;
  const InitiatorConfig config{Port::host, 0, 4, 64, {}};
  ProxySide<ScriptedRail> proxy(std::span<ScriptedRail>(&proxy_rail, 1), {}, config);
  HostSide<ScriptedRail> host(std::span<ScriptedRail>(&rail, 1), config, {HostThreads::one, true, 60}, proxy, sleeper);
  NetContext* context = host.make_context();
  const auto writes = [&] { return rail.count('w'); };
  const auto put = [&](int n) {
    static const uint64_t word = 1;
    for (int i = 0; i < n; ++i) host_put_nbi(host, *context, {1, SegmentId::heap, 0}, &word, 8);
  };
  const size_t announced = 3;
  host.session_start(*context, true, &announced);
  put(2);
  EXPECT_EQ(writes(), 1) << "one is held back";
  put(1);
  EXPECT_EQ(writes(), 3) << "nothing is to follow the third";
  put(1);
  EXPECT_EQ(writes(), 3) << "one more than announced is held like any other";
  host.session_stop(*context);
  EXPECT_EQ(writes(), 4);
  put(1);
  EXPECT_EQ(writes(), 5) << "no session, no batch";
  host.session_start(*context, false, nullptr);
  put(1);
  EXPECT_EQ(writes(), 6) << "a session without batching";
  host.session_start(*context, true, nullptr);
  host.session_start(*context, false, nullptr);
  put(1);
  EXPECT_EQ(writes(), 6) << "a second start takes nothing away";
  EXPECT_TRUE(host.urgent()) << "the proxy thread must look after it";
  host.poll_as_proxy();
  EXPECT_EQ(writes(), 7) << "the proxy thread has sent it";
  put(1);
  rail.complete_all_writes();  // the held one is not among them
  const uint64_t large[1024] = {};
  host_put_nbi(host, *context, {1, SegmentId::heap, 0}, large, sizeof large);
  EXPECT_EQ(writes(), 9) << "a large put goes behind the held one";
  put(1);
  host.progress();
  EXPECT_EQ(writes(), 10) << "a thread that waits for memory sends it";
}

}  // namespace
}  // namespace railshmem::test

// SPDX-License-Identifier: BSD-3-Clause
// Cables are pulled and plugged in again at random, under traffic and in idle times: whatever happened meanwhile, every
// rail that is back is used again soon, by every PE that posts.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/cabled_engine.h"
#include "tests/support/host_calls.h"
#include "tests/support/patience.h"

namespace railshmem::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Trial {
  const char* name;
  int npes;
  size_t rails;
  CableOptions options;
};

/// What the PEs do now.
enum class Traffic { none, idle_targets, all, over };

class RailOutages {
 public:
  RailOutages(const Trial& what, uint64_t seed)
      : what_(what),
        random_(seed),
        cables_(what.npes, what.rails),
        job_(cabled_with(cables_, what.options), {.npes = what.npes, .tuning = hasty()}) {}

  /// Returns the longest time that a rail took.
  Clock::duration run(int outages) {
    std::vector<std::thread> threads;
    for (int pe = 0; pe < what_.npes; ++pe) threads.emplace_back([this, pe] { post(pe); });
    for (outage_ = 0; outage_ < outages && !testing::Test::HasFailure(); ++outage_) one_outage();
    traffic_.store(Traffic::over);
    for (auto& thread : threads) thread.join();
    return longest_;
  }

 private:
  uint64_t random(uint64_t n) { return random_() % n; }
  void pass(uint64_t most_ms) { std::this_thread::sleep_for(std::chrono::microseconds(random(1000 * most_ms))); }
  void some_traffic() { traffic_.store(static_cast<Traffic>(random(3))); }

  void post(int pe) {
    set_log_pe(pe);
    auto& host = job_.host(pe);
    NetContext* const context = job_.engine(pe).make_context();
    const std::vector<std::byte> bytes(20000);
    const auto mine = static_cast<uint64_t>(pe);  // a place of its own at every target
    for (;;) {
      const Traffic traffic = traffic_.load();
      if (traffic == Traffic::over) break;
      if (traffic == Traffic::none || (traffic == Traffic::idle_targets && pe != 0)) {
        std::this_thread::sleep_for(1ms);
        continue;
      }
      for (int peer = 0; peer < what_.npes; ++peer) {
        if (peer == pe) continue;
        host_put_nbi(host, *context, {peer, SegmentId::heap, 65536 * (1 + mine)}, bytes.data(), bytes.size());
        host_put_nbi(host, *context, {peer, SegmentId::heap, 1024 * (1 + mine)}, bytes.data(), 100);
        host_amo(host, *context, {peer, SegmentId::heap, 512}, {AmoOp::add, 8, 1, 0});
      }
      host.quiet(*context);
      std::this_thread::yield();
    }
    host.quiet(*context);
  }

  /// One rail, at one PE or at several, once or a few times in a row; the others are whole.
  void one_outage() {
    const size_t r = random(what_.rails);
    some_traffic();
    pass(20);
    for (uint64_t times = 1 + random(3); times > 0; --times) {
      for (int pe = 0; pe < what_.npes; ++pe)
        if (random(2) == 0) cables_.pull(pe, r);
      pass(random(3) == 0 ? 300 : 60);
      if (random(2) == 0) some_traffic();
      pass(60);
      for (int pe = 0; pe < what_.npes; ++pe) cables_.plug(pe, r);
      if (times > 1) pass(50);
    }
    expect_use(r);
  }

  void expect_use(size_t r) {
    const Clock::time_point back = Clock::now();
    traffic_.store(Traffic::all);
    for (int from = 0; from < what_.npes; ++from)
      for (int to = 0; to < what_.npes; ++to) {
        if (from == to) continue;
        const uint64_t before = cables_.writes(from, to, r);
        while (cables_.writes(from, to, r) < before + 10) {
          std::this_thread::sleep_for(1ms);
          if (Clock::now() - back < kPatience) continue;
          ADD_FAILURE() << "outage " << outage_ << ": rail " << r << " from PE " << from << " to PE " << to
                        << " is not used though its cable is back";
          return;
        }
      }
    longest_ = std::max(longest_, Clock::now() - back);
  }

  const Trial what_;
  std::mt19937_64 random_;
  Cables cables_;
  EngineJob<CableFabric> job_;
  std::atomic<Traffic> traffic_{Traffic::none};
  int outage_ = 0;
  Clock::duration longest_{};
};

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

class EngineRailReturn : public testing::TestWithParam<Trial> {};

// OUTAGES=1000 SEED=5 make it a long one.
TEST_P(EngineRailReturn, EveryRailIsUsedAgain) {
  RailOutages outages(GetParam(), from_environment("SEED", 1));
  const auto longest = outages.run(static_cast<int>(from_environment("OUTAGES", 5)));
  std::printf("the slowest return took %lld ms\n",
              static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(longest).count()));
}

INSTANTIATE_TEST_SUITE_P(
    Cables, EngineRailReturn,
    testing::Values(Trial{"2Pes2Rails", 2, 2, {}}, Trial{"2Pes2RailsFailing", 2, 2, {.patience = 50ms}},
                    Trial{"3Pes3Rails", 3, 3, {}}, Trial{"3Pes3RailsFailing", 3, 3, {.patience = 30ms}},
                    Trial{"2Pes2RailsBuffering", 2, 2, {.patience = 50ms, .buffers_messages = true}},
                    Trial{"2Pes2RailsTelling", 2, 2, {.patience = 50ms, .tells_link = true}},
                    Trial{"3Pes3RailsTelling", 3, 3, {.tells_link = true}}),
    [](const auto& of) { return of.param.name; });

/// How long the stream of PE 0 to PE 1 pauses when a cable is pulled at `end`.
Clock::duration pause(bool tells_link, int end) {
  Cables cables(2, 2);
  Tuning tuning = hasty();
  tuning.rail_timeout_ns = Tuning().rail_timeout_ns;
  tuning.quarantine_ns = Tuning().quarantine_ns;
  EngineJob<CableFabric> job(cabled_with(cables, {.tells_link = tells_link}), {.npes = 2, .tuning = tuning});
  std::atomic<bool> over{false};
  std::thread target([&] {
    while (!over.load()) {
      job.host(1).progress();
      std::this_thread::yield();
    }
  });
  NetContext* const context = job.engine(0).make_context();
  const std::vector<std::byte> bytes(60000);
  Clock::time_point last = Clock::now();
  Clock::duration longest{};
  const auto stream = [&](Clock::duration how_long) {
    for (const auto until = Clock::now() + how_long; Clock::now() < until;) {
      host_put_nbi(job.host(0), *context, {1, SegmentId::heap, 65536}, bytes.data(), bytes.size());
      job.host(0).quiet(*context);
      const auto now = Clock::now();
      longest = std::max(longest, now - last);
      last = now;
    }
  };
  stream(100ms);
  longest = {};
  cables.pull(end, 1);
  stream(1200ms);
  cables.plug(end, 1);
  over.store(true);
  target.join();
  return longest;
}

/// The shortest pause of a few tries, because the machine may be busy.
Clock::duration best_pause(int end) {
  Clock::duration best = pause(true, end);
  for (int i = 0; i < 4 && best >= std::chrono::nanoseconds(Tuning().rail_timeout_ns); ++i)
    best = std::min(best, pause(true, end));
  return best;
}

TEST(EngineLinkLoss, BothEndsGoOnAtOnceWhicheverSeesIt) {
  const Clock::duration timeout = std::chrono::nanoseconds(Tuning().rail_timeout_ns);
  const Clock::duration silent = pause(false, 0);
  const Clock::duration source = best_pause(0);
  const Clock::duration target = best_pause(1);
  const auto ms = [](Clock::duration d) {
    return static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
  };
  std::printf("pause: %lld ms by silence, %lld ms by the source's link, %lld ms by the target's\n", ms(silent),
              ms(source), ms(target));
  EXPECT_GT(silent, timeout) << "it took the link for a sign where nothing tells it";
  EXPECT_LT(source, timeout);
  EXPECT_LT(target, timeout) << "the source was not told";
}

}  // namespace
}  // namespace railshmem::test

// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/engine.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <time.h>

#include <atomic>

#include "include/shmem/device/push.h"
#include "tests/support/engine_job.h"
#include "tests/support/flaky_fabric.h"
#include "tests/support/host_calls.h"
#include "tests/support/late_copier.h"
#include "tests/support/tickets.h"
#include "transports/loopback/fabric.h"

namespace railshmem::test {
namespace {

using namespace std::chrono_literals;

using Plain = loopback::Fabric;
using Stormy = Flaky<loopback::Fabric>;  // refuses, delays and reorders

std::unique_ptr<Engine<Plain>> plain(const NetworkConfig& config, const Tuning& tuning,
                                     const loopback::Options& options) {
  return std::make_unique<Engine<Plain>>(TransportKind::loopback, config, tuning, config, options);
}
std::unique_ptr<Engine<Stormy>> stormy(const NetworkConfig& config, const Tuning& tuning, const FlakyOptions& flaky,
                                       const loopback::Options& options) {
  return std::make_unique<Engine<Stormy>>(TransportKind::loopback, config, tuning, config, flaky, options);
}

/// Several rails, and operations cut so that even those of a few KiB go over all of them.
Tuning in_pieces(Tuning tuning) {
  tuning.stripe_min = 6000;
  tuning.shortest_piece = 4096;
  tuning.longest_piece = 16384;
  tuning.rail_window = 32768;
  return tuning;
}

constexpr Setup<Plain> kPlain{"Plain", [](const NetworkConfig& c, const Tuning& t) { return plain(c, t, {}); }};
/// A provider that copies nothing, takes little at a time, has few slots and no wait object.
constexpr loopback::Options kFewSlots{.max_write = 1000, .inject = 0, .depth = 4, .has_wait_object = false};
constexpr Setup<Plain> kNarrow{"Narrow",
                               [](const NetworkConfig& c, const Tuning& t) { return plain(c, t, kFewSlots); }};
template <size_t kRails>
constexpr Setup<Plain> kRailsSetup{
    kRails == 2 ? "TwoRails" : "ThreeRails",
    [](const NetworkConfig& c, const Tuning& t) { return plain(c, in_pieces(t), {.rails = kRails}); }};
constexpr Setup<Plain> kNarrowRails{"NarrowRails", [](const NetworkConfig& c, const Tuning& t) {
                                      loopback::Options options = kFewSlots;
                                      options.rails = 3;
                                      return plain(c, in_pieces(t), options);
                                    }};
/// A message may overtake data.
constexpr Setup<Stormy> kStormy{
    "Stormy", [](const NetworkConfig& c, const Tuning& t) { return stormy(c, t, {}, {.max_write = 3000}); }};
/// Messages stay behind data.
constexpr Setup<Stormy> kStormyOrdered{"StormyOrdered", [](const NetworkConfig& c, const Tuning& t) {
                                         return stormy(c, t, {.seed = 7, .message_after_write = true}, {});
                                       }};
template <size_t kRails, bool kOrdered>
constexpr Setup<Stormy> kStormyRails{kOrdered      ? "StormyOrderedRails"
                                     : kRails == 4 ? "StormyFourRails"
                                                   : "StormyRails",
                                     [](const NetworkConfig& c, const Tuning& t) {
                                       return stormy(c, in_pieces(t), {.seed = kRails, .message_after_write = kOrdered},
                                                     {.max_write = 5000, .rails = kRails});
                                     }};

std::unique_ptr<Copier> late_copier(uint64_t seed) {
  return std::make_unique<LateCopier>(seed);
}
/// One or two slots for everything.
Tuning in_slots(Tuning tuning, size_t depth) {
  tuning.staging_chunk = 4096;
  tuning.staging_depth = depth;
  return tuning;
}
/// Rails that reach no heap, and a copier that is late.
constexpr Setup<Plain> kStaged{
    "Staged", [](const NetworkConfig& c, const Tuning& t) { return kPlain.make(c, in_slots(t, 1)); }, late_copier};
constexpr Setup<Plain> kStagedNarrow{
    "StagedNarrow", [](const NetworkConfig& c, const Tuning& t) { return kNarrow.make(c, in_slots(t, 2)); },
    late_copier};
constexpr Setup<Stormy> kStagedRails{
    "StagedRails",
    [](const NetworkConfig& c, const Tuning& t) { return kStormyRails<2, false>.make(c, in_slots(t, 2)); },
    late_copier};

class EnginePlain : public testing::TestWithParam<Setup<Plain>> {};
class EngineStormy : public testing::TestWithParam<Setup<Stormy>> {};
constexpr auto name_of = [](const auto& test) { return std::string(test.param.name); };
INSTANTIATE_TEST_SUITE_P(Over, EnginePlain,
                         testing::Values(kPlain, kNarrow, kRailsSetup<2>, kRailsSetup<3>, kNarrowRails, kStaged,
                                         kStagedNarrow),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Over, EngineStormy,
                         testing::Values(kStormy, kStormyOrdered, kStormyRails<2, false>, kStormyRails<3, true>,
                                         kStormyRails<4, false>, kStagedRails),
                         name_of);

/// A test of every setup; its body sees `setup` and the fabric F.
#define ENGINE_TEST(Name)                  \
  template <class F>                       \
  void test_##Name(const Setup<F>& setup); \
  TEST_P(EnginePlain, Name) {              \
    test_##Name(GetParam());               \
  }                                        \
  TEST_P(EngineStormy, Name) {             \
    test_##Name(GetParam());               \
  }                                        \
  template <class F>                       \
  void test_##Name(const Setup<F>& setup)

constexpr size_t kTransfers[] = {1, 7, 8, 63, 64, 65, 1000, 4095, 4096, 4097, 10000, 65536};

ENGINE_TEST(PutsAndGetsMoveEveryByte) {
  EngineJob<F> job(setup, {.npes = 3});
  job.run([&](int pe) {
    NetContext* context = job.engine(pe).make_context();
    auto& host = job.host(pe);
    const int next = (pe + 1) % job.npes();
    size_t offset = 0;
    for (const size_t n : kTransfers) {
      std::vector<std::byte> bytes = filled(pe, n, n);
      host_put(host, *context, heap(next, offset), bytes.data(), n);
      std::memset(bytes.data(), 0xee, n);  // the source is ours again
      offset += n + 3;
    }
    host.quiet(*context);
    job.barrier();
    const int previous = (pe + job.npes() - 1) % job.npes();
    offset = 0;
    for (const size_t n : kTransfers) {
      const std::vector<std::byte> expected = filled(previous, n, n);
      EXPECT_EQ(std::memcmp(job.base(pe) + offset, expected.data(), n), 0) << n;
      std::vector<std::byte> got(n);
      host_get(host, *context, heap(next, offset), got.data(), n);
      EXPECT_EQ(got, filled(pe, n, n)) << n;
      EXPECT_EQ(job.base(pe)[offset + n], std::byte{0}) << "written beyond the end";
      offset += n + 3;
    }
    job.barrier();
    job.engine(pe).drop_context(context);
  });
}

ENGINE_TEST(QuietWaitsForEverythingOfItsContext) {
  EngineJob<F> job(setup);
  job.run([&](int pe) {
    if (pe != 0) return;  // its proxy alone is the target
    NetContext* context = job.engine(0).make_context();
    auto& host = job.host(0);
    for (uint64_t round = 0; round < 50; ++round) {
      const std::vector<std::byte> large = filled(0, round, 20000);
      const uint64_t small = round * 3 + 1;
      std::vector<std::byte> got(20000);
      uint64_t fetched = ~uint64_t{0};
      host_put_nbi(host, *context, heap(1, 1024), large.data(), large.size());
      host_put_nbi(host, *context, heap(1, 8), &small, 8);
      host_get_nbi(host, *context, heap(0, 50000), got.data(), got.size());
      host_amo(host, *context, heap(1, 16), {AmoOp::add, 8, 1, 0});
      host_amo_nbi(host, *context, heap(1, 24), {AmoOp::fetch_add, 8, 1, 0}, &fetched);
      host_put_signal_nbi(host, *context, heap(1, 32), &small, 8, {SegmentId::heap, 40, 1, SignalOp::add});
      host.quiet(*context);
      EXPECT_EQ(context->pending(), 0u);
      EXPECT_EQ(std::memcmp(job.base(1) + 1024, large.data(), large.size()), 0);
      EXPECT_EQ(job.load(1, 8), small);
      EXPECT_EQ(job.load(1, 16), round + 1);
      EXPECT_EQ(fetched, round);
      EXPECT_EQ(job.load(1, 32), small);
      EXPECT_EQ(job.load(1, 40), round + 1);
    }
  });
}

/// Returns how often a signal was seen before its data.
template <class F>
int overtaken_signals(const Setup<F>& setup, const Tuning& tuning, int rounds) {
  EngineJob<F> job(setup, {.tuning = tuning});
  std::atomic<int> overtaken{0};
  constexpr size_t kSignal = 0, kReady = 8, kData = 64;
  job.run([&](int pe) {
    NetContext* context = job.engine(pe).make_context();
    auto& host = job.host(pe);
    for (int round = 1; round <= rounds; ++round) {
      const size_t n = kTransfers[static_cast<size_t>(round) % std::size(kTransfers)];
      if (pe == 0) {
        const std::vector<std::byte> bytes = filled(0, round, n);
        const NetSignal signal{SegmentId::heap, kSignal, static_cast<uint64_t>(round), SignalOp::set};
        if (round % 2 == 0) {
          host_put_signal(host, *context, heap(1, kData), bytes.data(), n, signal);
        } else {
          host_put_signal_nbi(host, *context, heap(1, kData), bytes.data(), n, signal);
        }
        job.wait_until(0, kReady, static_cast<uint64_t>(round));
        host.quiet(*context);
      } else {
        job.wait_until(1, kSignal, static_cast<uint64_t>(round));
        const std::vector<std::byte> expected = filled(0, round, n);
        // With the deferral disabled data arrives while this thread looks. So look through the rail, whose copies take
        // turns.
        std::vector<std::byte> seen(n);
        std::memcpy(seen.data(), job.base(1) + kData, n);
        if (seen != expected) ++overtaken;
        host.flag(heap(0, kReady), static_cast<uint64_t>(round));
      }
    }
  });
  return overtaken;
}

ENGINE_TEST(PutSignalNeverShowsItsSignalBeforeItsData) {
  EXPECT_EQ(overtaken_signals(setup, {}, 120), 0);
  EXPECT_EQ(overtaken_signals(setup, {.max_inline = 0}, 120), 0) << "without inline payload";
}

#if !defined(__SANITIZE_THREAD__)  // the race is the point
TEST(Engine, DisabledDeferralIsNoticed) {
  for (int tries = 0; tries < 50; ++tries)  // on a busy machine all rounds of a try may end in order
    if (overtaken_signals(kStormy, {.max_inline = 0, .keeps_order = false}, 120) > 0) return;
  FAIL() << "no signal overtook its data";
}
#endif

ENGINE_TEST(AmoTotalsAreExact) {
  constexpr int kRounds = 300;
  EngineJob<F> job(setup, {.npes = 4});
  std::vector<std::vector<uint64_t>> tickets(4);
  job.run([&](int pe) {
    NetContext* context = job.engine(pe).make_context();
    auto& host = job.host(pe);
    for (int i = 0; i < kRounds; ++i) {
      host_amo(host, *context, heap(0, 0), {AmoOp::add, 8, 1, 0});
      host_amo(host, *context, heap(1, 8), {AmoOp::add, 4, 0xffffffff, 0});
      if (i % 8 == 0) tickets[pe].push_back(host_amo(host, *context, heap(2, 16), {AmoOp::fetch_add, 8, 1, 0}));
    }
    host_amo(host, *context, heap(3, 24), {AmoOp::bit_or, 8, uint64_t{1} << pe, 0});
    host_amo(host, *context, heap(3, 32), {AmoOp::bit_xor, 4, uint64_t{1} << pe, 0});
    host.quiet(*context);
    job.barrier();
    EXPECT_EQ(host_amo(host, *context, heap(3, 24), {AmoOp::fetch, 8, 0, 0}), 15u);
    EXPECT_EQ(host_amo(host, *context, heap(3, 32), {AmoOp::fetch, 4, 0, 0}), 15u);
    job.barrier();
    if (pe == 0) {
      EXPECT_EQ(host_amo(host, *context, heap(3, 40), {AmoOp::swap, 8, 5, 0}), 0u);
      EXPECT_EQ(host_amo(host, *context, heap(3, 40), {AmoOp::compare_swap, 8, 9, 4}), 5u);
      EXPECT_EQ(host_amo(host, *context, heap(3, 40), {AmoOp::compare_swap, 8, 9, 5}), 5u);
      EXPECT_EQ(host_amo(host, *context, heap(3, 40), {AmoOp::fetch_and, 8, 8, 0}), 9u);
      EXPECT_EQ(host_amo(host, *context, heap(3, 40), {AmoOp::fetch_xor, 8, 1, 0}), 8u);
      EXPECT_EQ(host_amo(host, *context, heap(3, 40), {AmoOp::fetch_or, 8, 2, 0}), 9u);
      host_amo(host, *context, heap(3, 40), {AmoOp::bit_and, 8, 3, 0});
      host.fence(*context);  // or the next one may overtake it
      EXPECT_EQ(host_amo(host, *context, heap(3, 40), {AmoOp::swap, 8, 0, 0}), 3u);
      host_amo(host, *context, heap(3, 44), {AmoOp::set, 4, 0x12345678, 0});
      host.fence(*context);
      EXPECT_EQ(host_amo(host, *context, heap(3, 44), {AmoOp::fetch, 4, 0, 0}), 0x12345678u);
      EXPECT_EQ(host_amo(host, *context, heap(3, 40), {AmoOp::fetch, 4, 0, 0}), 0u) << "a neighbour changed";
    }
  });
  EXPECT_EQ(job.load(0, 0), 4u * kRounds);
  EXPECT_EQ(job.load(1, 8), uint64_t{static_cast<uint32_t>(-4 * kRounds)}) << "4 bytes wrap without touching 8";
  std::vector<uint64_t> all;
  for (auto& mine : tickets) all.insert(all.end(), mine.begin(), mine.end());
  expect_each_once(std::move(all));
}

/// Returns how often what was posted behind a fence was seen before what was posted in front of it.
template <class F>
int passed_fences(const Setup<F>& setup, const Tuning& tuning, uint64_t rounds) {
  EngineJob<F> job(setup, {.tuning = tuning});
  std::atomic<int> passed{0};
  job.run([&](int pe) {
    NetContext* context = job.engine(pe).make_context();
    auto& host = job.host(pe);
    for (uint64_t round = 1; round <= rounds; ++round) {
      const size_t n = round % 4 < 2 ? 5000 : 20000;
      if (pe == 0) {
        const std::vector<std::byte> bytes = filled(0, round, n);
        host_put_nbi(host, *context, heap(1, 64), bytes.data(), bytes.size());
        host.fence(*context);
        if (round % 2 == 0) {
          host_put(host, *context, heap(1, 0), &round, 8);
        } else {
          host_amo(host, *context, heap(1, 0), {AmoOp::set, 8, round, 0});
        }
        job.wait_until(0, 8, round);
        host.quiet(*context);
      } else {
        job.wait_until(1, 0, round);
        if (std::memcmp(job.base(1) + 64, filled(0, round, n).data(), n) != 0) ++passed;
        host.flag(heap(0, 8), round);
      }
    }
  });
  return passed;
}

ENGINE_TEST(FenceOrdersPutsAtTheirTarget) {
  EXPECT_EQ(passed_fences(setup, {}, 100), 0);
}

#if !defined(__SANITIZE_THREAD__)  // as above
TEST(Engine, FenceThatOrdersNothingIsNoticed) {
  for (int tries = 0; tries < 50; ++tries)
    if (passed_fences(kStormyRails<2, false>, {.keeps_order = false}, 100) > 0) return;
  FAIL() << "what is behind a fence always came behind it";
}
#endif

ENGINE_TEST(EverybodyFloodsEverybodyWithoutDeadlock) {
  EngineJob<F> job(setup, {.npes = 4, .slots = 16});
  constexpr int kRounds = 200;
  job.run([&](int pe) {
    NetContext* context = job.engine(pe).make_context();
    auto& host = job.host(pe);
    const std::vector<std::byte> bytes = filled(pe, 0, 600);
    for (int i = 0; i < kRounds; ++i)
      for (int to = 0; to < job.npes(); ++to) {
        host_amo(host, *context, heap(to, 0), {AmoOp::add, 8, 1, 0});
        host_put_signal_nbi(host, *context, heap(to, 4096 + 600u * static_cast<unsigned>(pe)), bytes.data(),
                            bytes.size(), {SegmentId::heap, 8, 1, SignalOp::add});
      }
    host.quiet(*context);
  });
  for (int pe = 0; pe < job.npes(); ++pe) {
    EXPECT_EQ(job.load(pe, 0), 4u * kRounds);
    EXPECT_EQ(job.load(pe, 8), 4u * kRounds);
    for (int from = 0; from < job.npes(); ++from)
      EXPECT_EQ(std::memcmp(job.base(pe) + 4096 + 600 * from, filled(from, 0, 600).data(), 600), 0);
  }
}

ENGINE_TEST(ThreadsShareHostCalls) {
  EngineJob<F> job(setup, {.several_threads = true});
  constexpr int kThreads = 3, kRounds = 100;
  job.run([&](int pe) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&job, pe, t] {
        NetContext* context = job.engine(pe).make_context();
        auto& host = job.host(pe);
        const int other = 1 - pe;
        for (uint64_t i = 0; i < kRounds; ++i) {
          const uint64_t value = i * 10 + static_cast<uint64_t>(t);
          const uint64_t offset = 64 + 8 * static_cast<uint64_t>(t);
          host_put(host, *context, heap(other, offset), &value, 8);
          host_amo(host, *context, heap(other, 0), {AmoOp::add, 8, 1, 0});
          host.quiet(*context);
          uint64_t back = 0;
          host_get(host, *context, heap(other, offset), &back, 8);
          ASSERT_EQ(back, value);
        }
        job.engine(pe).drop_context(context);
      });
    for (auto& thread : threads) thread.join();
  });
  EXPECT_EQ(job.load(0, 0), uint64_t{kThreads * kRounds});
  EXPECT_EQ(job.load(1, 0), uint64_t{kThreads * kRounds});
}

ENGINE_TEST(DeferredSignalLeavesWhileTheHostComputes) {
  EngineJob<F> job(setup, {.tuning = {.max_inline = 0}});
  job.run([&](int pe) {
    NetContext* context = job.engine(pe).make_context();
    std::this_thread::sleep_for(5ms);  // the proxies sleep by now
    if (pe == 0) {
      static const std::vector<std::byte> bytes = filled(0, 1, 30000);
      host_put_signal_nbi(job.host(0), *context, heap(1, 64), bytes.data(), bytes.size(),
                          {SegmentId::heap, 0, 1, SignalOp::set});
      job.barrier();  // no call until PE 1 has seen the signal
      job.host(0).quiet(*context);
    } else {
      job.wait_until(1, 0, 1);
      EXPECT_EQ(std::memcmp(job.base(1) + 64, filled(0, 1, 30000).data(), 30000), 0);
      job.barrier();
    }
  });
}

ENGINE_TEST(ChannelCommandsCompleteTheirTickets) {
  Channel channel(6);
  EngineJob<F> job(setup, {.tuning = {.max_inline = 100}, .channels = {{&channel}}});
  const RingView ring = channel.view().ring;
  const uint64_t* const completed = channel.view().completed;
  const auto push = [&ring](const Command& command) {
    return device::push(ring, command, device::Deadline::never()).ticket;
  };
  const auto wait_for = [&](uint64_t count) {
    while (__atomic_load_n(completed, __ATOMIC_ACQUIRE) < count) std::this_thread::yield();
  };
  const std::vector<std::byte> large = filled(0, 1, 10000);
  const auto address = [](const void* p) { return reinterpret_cast<uint64_t>(p); };
  std::vector<std::byte> got(10000);
  uint64_t fetched = 0, tickets = 0;
  // Gets are not ordered by fence: what they read is there before they begin.
  wait_for(1 + push({.op = CommandOp::put,
                     .pe = 1,
                     .nbytes = large.size(),
                     .remote_offset = 1024,
                     .local = address(large.data())}));
  constexpr uint64_t kRounds = 60;
  for (uint64_t round = 1; round <= kRounds; ++round) {
    push(
        {.op = CommandOp::put, .pe = 1, .nbytes = large.size(), .remote_offset = 1024, .local = address(large.data())});
    push({.op = CommandOp::put_inline, .pe = 1, .nbytes = 8, .remote_offset = 0, .value = round});
    push({.op = CommandOp::put_inline_signal,
          .pe = 1,
          .nbytes = 4,
          .remote_offset = 8,
          .value = round,
          .signal_offset = 16,
          .signal_value = round});
    push({.op = CommandOp::put_signal,
          .signal_op = SignalOp::add,
          .pe = 1,
          .nbytes = 50,
          .remote_offset = 20000,
          .local = address(large.data()),
          .signal_offset = 24,
          .signal_value = 1});
    push({.op = CommandOp::put_signal,
          .signal_op = SignalOp::add,
          .pe = 1,
          .nbytes = 5000,
          .remote_offset = 30000,
          .local = address(large.data()),
          .signal_offset = 24,
          .signal_value = 1});
    push({.op = CommandOp::signal, .signal_op = SignalOp::add, .pe = 1, .signal_offset = 24, .signal_value = 1});
    push({.op = CommandOp::amo, .amo_op = AmoOp::add, .pe = 1, .nbytes = 4, .remote_offset = 32, .value = 2});
    push({.op = CommandOp::fence, .pe = 1});
    push({.op = CommandOp::get, .pe = 1, .nbytes = got.size(), .remote_offset = 1024, .local = address(got.data())});
    tickets = 1 + push({.op = CommandOp::amo,
                        .amo_op = AmoOp::fetch_add,
                        .pe = 1,
                        .nbytes = 8,
                        .remote_offset = 40,
                        .local = address(&fetched),
                        .value = 1});
    if (round % 10 != 0) continue;
    wait_for(tickets);
    EXPECT_EQ(got, large);
    EXPECT_EQ(fetched, round - 1);
    EXPECT_EQ(job.load(1, 0), round);
    EXPECT_EQ(job.load(1, 8), round);
    EXPECT_EQ(job.load(1, 16), round);
    EXPECT_EQ(job.load(1, 24), 3 * round);
    EXPECT_EQ(job.load(1, 32), 2 * round);
    EXPECT_EQ(std::memcmp(job.base(1) + 20000, large.data(), 50), 0);
    EXPECT_EQ(std::memcmp(job.base(1) + 30000, large.data(), 5000), 0);
  }
  EXPECT_EQ(tickets, 1 + 10 * kRounds);
}

TEST(Engine, ComputingHostIsALiveTarget) {
  EngineJob<Plain> job(kPlain);
  NetContext* context = job.engine(0).make_context();
  for (uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(host_amo(job.host(0), *context, heap(1, 0), {AmoOp::fetch_add, 8, 1, 0}), i);
    std::this_thread::sleep_for(1ms);  // PE 1's proxy goes to sleep and must wake up
  }
}

double cpu_seconds(pthread_t thread) {
  clockid_t clock;
  timespec t{};
  if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &t) != 0) return -1;
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void expect_idle_proxy_is_cheap(const Setup<Plain>& setup) {
  EngineJob<Plain> job(setup);
  std::this_thread::sleep_for(150ms);
  const pthread_t thread = job.engine(0).loop().thread().native_handle();
  const double before = cpu_seconds(thread);
  std::this_thread::sleep_for(1s);
  const double used = cpu_seconds(thread) - before;
  testing::Test::RecordProperty("idle_cpu_percent", std::to_string(100 * used));
  printf("idle proxy: %.3f %% of a core\n", 100 * used);
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(used, 0.10) << "sanitizers make every system call dearer";
#else
  EXPECT_LT(used, 0.02);
#endif
}
TEST(Engine, IdleProxyIsCheapWithAWaitObject) {
  expect_idle_proxy_is_cheap(kPlain);
}
TEST(Engine, IdleProxyIsCheapWithoutAWaitObject) {
  expect_idle_proxy_is_cheap(kNarrow);
}

}  // namespace
}  // namespace railshmem::test

// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/flusher.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "tests/support/engine_job.h"
#include "tests/support/flaky_rail.h"
#include "tests/support/flush_rig.h"
#include "transports/loopback/fabric.h"

namespace railshmem::test {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

TEST(Flush, NoneLetsRequestsPassAtOnce) {
  FlushRig f(FlushPolicy::none, 2);
  f.add(1);
  f.pass();
  EXPECT_EQ(f.memory[0], 1u);
  EXPECT_EQ(f.accesses(0) + f.accesses(1), "");
  EXPECT_EQ(f.answers(), 1u);
}

TEST(Flush, ReadGoesOverEveryRailBeforeTheRequestIsSeen) {
  FlushRig f(FlushPolicy::read, 3);
  f.add(1);
  f.pass();
  for (size_t r = 0; r < 3; ++r) {
    ASSERT_EQ(f.accesses(r), "r") << "data may have come over rail " << r;
    const auto& p = f.rails[r].posted[0];
    EXPECT_EQ(p.remote.pe, FlushRig::kMe);
    EXPECT_EQ(p.remote.segment, SegmentId::heap);
    EXPECT_EQ(p.remote.offset, FlushRig::kOffset);
    EXPECT_EQ(p.nbytes, 8u);
  }
  f.complete(0);
  f.complete(1);
  f.passes(100);
  EXPECT_EQ(f.memory[0], 0u) << "rail 2 has not answered";
  EXPECT_EQ(f.answers(), 0u);
  f.complete(2);
  f.pass();
  EXPECT_EQ(f.memory[0], 1u);
  EXPECT_EQ(f.answers(), 1u) << "only after it was executed";
  f.passes(100);
  EXPECT_EQ(f.accesses(0), "r") << "nothing came, nothing is flushed";
  EXPECT_FALSE(f.gate->holds());
}

TEST(Flush, WriteReadWaitsForTheReadOnly) {
  FlushRig f(FlushPolicy::write_read, 2);
  f.add(0);
  f.pass();
  for (size_t r = 0; r < 2; ++r) {
    ASSERT_EQ(f.accesses(r), "wr");
    EXPECT_EQ(f.rails[r].posted[0].nbytes, 8u);
    EXPECT_EQ(f.rails[r].posted[0].remote.offset, FlushRig::kOffset);
    EXPECT_EQ(f.rails[r].posted[1].remote.offset, FlushRig::kOffset);
    f.rails[r].complete(f.rails[r].posted[0].slot);
  }
  f.passes(10);
  EXPECT_EQ(f.memory[0], 0u) << "that a write is over says nothing";
  for (size_t r = 0; r < 2; ++r) f.rails[r].complete(f.rails[r].posted[1].slot);
  f.pass();
  EXPECT_EQ(f.memory[0], 1u);
  EXPECT_EQ(f.initiator->outstanding(), 0u) << "every cell came back";
}

TEST(Flush, LateWritesAreRetiredSilently) {
  FlushRig f(FlushPolicy::write_read, 1);
  for (uint64_t round = 1; round <= 3; ++round) {
    f.add(0);
    f.pass();
    f.rails[0].complete(f.last_slot(0));
    f.pass();
    EXPECT_EQ(f.memory[0], round) << "the write behind it may still be open";
  }
  EXPECT_EQ(f.initiator->outstanding(), 3u);
  f.rails[0].complete_all_writes();
  f.passes(2);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
  EXPECT_EQ(f.accesses(0), "wrwrwr");
}

TEST(Flush, OneServesAllArrivalsOfAPass) {
  FlushRig f(FlushPolicy::read, 2);
  for (int i = 0; i < 10; ++i) f.add(static_cast<size_t>(i % 2));
  f.pass();
  EXPECT_EQ(f.accesses(0) + f.accesses(1), "rr");
  for (int i = 0; i < 3; ++i) f.add(0);
  f.pass();
  EXPECT_EQ(f.accesses(0) + f.accesses(1), "rr") << "what comes during a flush waits for the next";
  f.complete(0);
  f.complete(1);
  f.pass();
  EXPECT_EQ(f.memory[0], 10u) << "it covers those before its start only";
  EXPECT_EQ(f.accesses(0) + f.accesses(1), "rrrr") << "the next one starts at once";
  f.complete(0);
  f.complete(1);
  f.pass();
  EXPECT_EQ(f.memory[0], 13u);
}

TEST(Flush, AgainConcernsItsRailOnly) {
  FlushRig f(FlushPolicy::read, 3);
  f.rails[1].room = 0;
  f.add(0);
  f.passes(5);
  EXPECT_EQ(f.accesses(0), "r");
  EXPECT_EQ(f.accesses(1), "");
  EXPECT_EQ(f.accesses(2), "r") << "behind the one without room";
  f.complete(0);
  f.complete(2);
  f.passes(5);
  EXPECT_EQ(f.memory[0], 0u) << "the success of others is not that of rail 1";
  f.rails[1].room = 1;
  f.passes(5);
  EXPECT_EQ(f.accesses(0) + f.accesses(1) + f.accesses(2), "rrr") << "each exactly once";
  EXPECT_EQ(f.memory[0], 0u);
  f.complete(1);
  f.pass();
  EXPECT_EQ(f.memory[0], 1u);
}

TEST(Flush, AgainBetweenWriteAndRead) {
  FlushRig f(FlushPolicy::write_read, 2);
  f.rails[1].room = 1;
  f.add(0);
  f.passes(3);
  EXPECT_EQ(f.accesses(0), "wr");
  EXPECT_EQ(f.accesses(1), "w");
  f.complete(1, 'w');
  f.complete(0);
  f.passes(3);
  EXPECT_EQ(f.memory[0], 0u);
  f.rails[1].room = 1;
  f.passes(3);
  EXPECT_EQ(f.accesses(1), "wr") << "the write is not repeated";
  f.complete(1);
  f.pass();
  EXPECT_EQ(f.memory[0], 1u);
}

TEST(Flush, WaitsForCells) {
  FlushRig f(FlushPolicy::write_read, 2, 1);
  f.add(0);
  for (int i = 0; i < 20 && f.memory[0] == 0; ++i) {
    f.pass();
    f.complete(0);
    f.complete(1);
  }
  EXPECT_EQ(f.accesses(0), "wr");
  EXPECT_EQ(f.accesses(1), "wr");
  EXPECT_EQ(f.memory[0], 1u);
}

TEST(Flush, PutSignalIsHeldAsAWhole) {
  FlushRig f(FlushPolicy::read, 2);
  struct {
    PutSignalMessage message;
    uint64_t payload[2];
  } wire{};
  wire.message = {FlushRig::header(MessageKind::put_signal, 3, 0), 8, 5, 16, 16, SegmentId::heap, {}};
  wire.payload[0] = 11;
  wire.payload[1] = 12;
  f.rails[0].deliver(wire);
  f.passes(3);
  EXPECT_EQ(f.memory[1], 0u) << "no signal before the flush";
  wire.payload[0] = 99;  // the rail's buffer is used again
  f.complete(0);
  f.complete(1);
  f.pass();
  EXPECT_EQ(f.memory[1], 5u);
  EXPECT_EQ(f.memory[2], 11u);
  EXPECT_EQ(f.memory[3], 12u);
  EXPECT_EQ(f.rails[0].released, 1);
}

TEST(Flush, RequestsOfAPassKeepTheirOrder) {
  FlushRig f(FlushPolicy::read);
  for (uint32_t i = 0; i < 5; ++i) {
    SignalMessage signal{FlushRig::header(MessageKind::signal, 2, i), 8, 100 + i};
    signal.header.op = static_cast<uint8_t>(SignalOp::set);
    f.rails[0].deliver(signal);
  }
  f.pass();
  f.complete(0);
  f.pass();
  EXPECT_EQ(f.memory[1], 104u);
}

TEST(Flush, PingsAreAnsweredMeanwhile) {
  FlushRig f(FlushPolicy::read, 2);
  f.add(0);
  f.pass();
  f.rails[1].deliver(FlushRig::header(MessageKind::ping, 3, 0));
  f.passes(2);
  ASSERT_EQ(f.rails[1].posted.size(), 2u);
  EXPECT_EQ(read_message<MessageHeader>(f.rails[1].posted[1].bytes.data()).kind, MessageKind::pong);
  EXPECT_EQ(f.memory[0], 0u);
}

TEST(Flush, AccountWaitsForWhatIsHeld) {
  FlushRig f(FlushPolicy::read, 2);
  f.add(0);
  f.pass();
  f.rails[1].deliver(FlushRig::header(MessageKind::inquiry, 2, 0));
  const auto until = steady_clock::now() + 30ms;  // longer than an account takes
  while (steady_clock::now() < until) f.passes(10);
  EXPECT_EQ(f.answers(), 0u) << "the request that is held would be sent again, data and all";
  f.complete(0);
  f.complete(1);
  f.passes(3);
  EXPECT_EQ(f.memory[0], 1u);
  bool told = false;
  for (const auto& p : f.rails[1].posted) {
    if (p.what != 's' || p.bytes.size() != sizeof(AccountMessage)) continue;
    told = true;
    EXPECT_EQ(read_message<MessageHeader>(p.bytes.data()).sequence, 1u);
  }
  EXPECT_TRUE(told);
}

// ---- failures
// --------------------------------------------------------------------------------------------------------

Tuning hasty() {
  Tuning tuning;
  tuning.rail_timeout_ns = 40'000'000;
  tuning.quarantine_ns = 10'000'000;
  return tuning;
}

/// Passes in which the rails of `alive` do all that is asked of them, until `done()`; false after some seconds.
template <class Done>
bool live(FlushRig& f, RailMask alive, Done&& done) {
  const auto until = steady_clock::now() + 10s;
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
int cards_to(const FlushRig& f, int pe) {
  int n = 0;
  for (const ScriptedRail& rail : f.rails)
    for (const auto& p : rail.posted)
      n += p.what == 's' && p.to.pe == pe && read_message<MessageHeader>(p.bytes.data()).kind == MessageKind::card;
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
  ASSERT_TRUE(live(f, 0b01, [&] { return cards_to(f, 1) > 0; })) << "this PE must know how to reach it";
  const auto quiet_until = steady_clock::now() + 50ms;
  live(f, 0b01, [&] { return steady_clock::now() > quiet_until; });
  EXPECT_EQ(cards_to(f, 0) + cards_to(f, 2) + cards_to(f, 3), 0);

  // Once it has reached this PE, it counts again, before any peer may use it.
  ASSERT_TRUE(live(f, 0b11, [&] { return cards_to(f, 0) > 0 && cards_to(f, 2) > 0 && cards_to(f, 3) > 0; }));
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

// ---- the device's own flush
// ------------------------------------------------------------------------------------------

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

// ---- by chance
// -------------------------------------------------------------------------------------------------------

/// Rails without room, completions in any order: whenever a request is seen, a read that was posted after its arrival
/// is complete on every rail.
TEST(Flush, NothingIsSeenBeforeItsFlushWhateverRailsDo) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const size_t count = 1 + seed % 4;
    FlushRig f(seed % 2 == 0 ? FlushPolicy::read : FlushPolicy::write_read, count, 3 * count);
    std::vector<size_t> arrived_at;                     // by request
    std::vector<std::vector<size_t>> posted_at(count);  // by rail and post
    std::vector<size_t> flushed_to(count);              // by rail: when its newest complete read was posted
    std::vector<std::vector<size_t>> open(count);
    size_t published = 0;
    for (size_t step = 1; published < 200; ++step) {
      ASSERT_LT(step, 100000u);
      if (arrived_at.size() < 200 && random() % 3 == 0) {
        f.add(random() % count);
        arrived_at.push_back(step);
      }
      for (size_t r = 0; r < count; ++r) {
        f.rails[r].room = static_cast<int>(random() % 3);
        if (!open[r].empty() && random() % 2 == 0) {
          const size_t pick = random() % open[r].size();
          const auto& p = f.rails[r].posted[open[r][pick]];
          f.rails[r].complete(p.slot);
          if (p.what == 'r') flushed_to[r] = std::max(flushed_to[r], posted_at[r][open[r][pick]]);
          open[r].erase(open[r].begin() + static_cast<long>(pick));
        }
      }
      f.pass();
      for (size_t r = 0; r < count; ++r)
        while (posted_at[r].size() < f.rails[r].posted.size()) {
          if (f.rails[r].posted[posted_at[r].size()].slot != nullptr) open[r].push_back(posted_at[r].size());
          posted_at[r].push_back(step);
        }
      for (; published < f.memory[0]; ++published)
        for (size_t r = 0; r < count; ++r)
          ASSERT_GE(flushed_to[r], arrived_at[published]) << "seed " << seed << " rail " << r;
    }
  }
}

// ---- in an engine
// ----------------------------------------------------------------------------------------------------

template <size_t Rails>
struct Stormy {
  using FabricType = Flaky<loopback::Fabric>;
  static auto make(const NetworkConfig& config, const Tuning& tuning) {
    return std::make_unique<Engine<FabricType>>(TransportKind::loopback, config, tuning, config, FlakyOptions{},
                                                loopback::Options{.rails = Rails});
  }
};

template <class Setup>
void signals_follow_their_data(FlushPolicy policy) {
  EngineJob<Setup> job({.flush = policy, .flush_offset = 512});
  job.run([&](int pe) {
    NetContext* const scope = job.engine(pe).make_context();
    std::vector<uint64_t> data(2000);
    for (uint64_t round = 1; round <= 60; ++round) {
      const int other = 1 - pe;
      std::fill(data.begin(), data.end(), round);
      job.host(pe).put_signal(*scope, {other, SegmentId::heap, 4096}, data.data(), (round % 2 ? 20 : 2000) * 8,
                              {SegmentId::heap, 8, round, SignalOp::set});
      job.wait_until(pe, 8, round);
      ASSERT_EQ(job.load(pe, 4096), round);
      ASSERT_EQ(job.load(pe, 4096 + 19 * 8), round);
      EXPECT_EQ(job.host(pe).amo(*scope, {other, SegmentId::heap, 16}, {AmoOp::fetch_add, 8, 1, 0}), round - 1);
      job.barrier();
    }
    job.host(pe).quiet(*scope);
  });
}
TEST(FlushEngine, SignalsFollowTheirData) {
  for (const FlushPolicy policy : {FlushPolicy::read, FlushPolicy::write_read}) {
    signals_follow_their_data<Stormy<1>>(policy);
    signals_follow_their_data<Stormy<3>>(policy);
  }
}

/// A fabric that notes what becomes of the flush's memory.
std::vector<std::string> events;
struct NotingFabric : loopback::Fabric {
  using loopback::Fabric::Fabric;
  NotingFabric(NotingFabric&&) = delete;
  ~NotingFabric() { events.push_back("fabric ends"); }
  void register_buffer(std::span<const std::byte> bytes) {
    events.push_back(text("register %zu", bytes.size()));
    base = bytes.data();
  }
  void unregister_buffer(const std::byte* at) {
    EXPECT_EQ(at, base);
    EXPECT_NE(at, nullptr);
    events.push_back("unregister");
  }
  const std::byte* base = nullptr;
};

TEST(FlushEngine, MemoryIsReleasedInOrder) {
  struct Noting {
    using FabricType = NotingFabric;
    static auto make(const NetworkConfig& config, const Tuning& tuning) {
      return std::make_unique<Engine<FabricType>>(TransportKind::loopback, config, tuning, config,
                                                  loopback::Options{.rails = 2});
    }
  };
  events.clear();
  { EngineJob<Noting> job({.npes = 1, .flush = FlushPolicy::read, .flush_offset = 512}); }
  EXPECT_EQ(events, (std::vector<std::string>{"register 128", "unregister", "fabric ends"}));
  events.clear();
  { EngineJob<Noting> job({.npes = 1}); }
  EXPECT_EQ(events, std::vector<std::string>{"fabric ends"}) << "without a flush there is nothing to register";
}

TEST(FlushMemory, IsRegisteredOnceAndReleasedOnce) {
  std::vector<std::string> log;
  {
    FlushMemory memory;
    memory.make(
        3, [&](std::span<const std::byte> bytes) { log.push_back(text("register %zu", bytes.size())); },
        [&](const std::byte* base) {
          EXPECT_EQ(base, memory.bytes().data());
          log.push_back("unregister");
        });
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.bytes().data()) % kFlushLine, 0u);
    memory.release();
    memory.bytes()[0] = std::byte{1};  // still there: the endpoints end later
  }
  EXPECT_EQ(log, (std::vector<std::string>{"register 192", "unregister"}));
  log.clear();
  {
    FlushMemory memory;
    memory.make(
        1, [](auto) {}, [&](const std::byte*) { log.push_back("unregister"); });
    memory.abandon();
  }
  {
    FlushMemory memory;
    memory.make(
        1, [](auto) {}, [](const std::byte*) { throw Error("in use"); });
    memory.release();
  }
  EXPECT_TRUE(log.empty()) << "a rail still uses it: the registration ends with the endpoint";
}

}  // namespace
}  // namespace railshmem::test

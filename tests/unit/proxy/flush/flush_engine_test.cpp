// SPDX-License-Identifier: BSD-3-Clause
// Flushes in whole engines, and what becomes of their memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "src/proxy/flush/flush_memory.h"
#include "tests/support/engine_job.h"
#include "tests/support/flaky_fabric.h"
#include "tests/support/host_calls.h"
#include "transports/loopback/fabric.h"

namespace railshmem::test {
namespace {

using Stormy = Flaky<loopback::Fabric>;
template <size_t Rails>
constexpr Setup<Stormy> kFlushing{"Flushing", [](const NetworkConfig& config, const Tuning& tuning) {
                                    return std::make_unique<Engine<Stormy>>(TransportKind::loopback, config, tuning,
                                                                            config, FlakyOptions{},
                                                                            loopback::Options{.rails = Rails});
                                  }};

void signals_follow_their_data(const Setup<Stormy>& setup, FlushPolicy policy) {
  EngineJob<Stormy> job(setup, {.flush = policy, .flush_offset = 512});
  job.run([&](int pe) {
    NetContext* const context = job.engine(pe).make_context();
    std::vector<uint64_t> data(2000);
    for (uint64_t round = 1; round <= 60; ++round) {
      const int other = 1 - pe;
      std::fill(data.begin(), data.end(), round);
      host_put_signal(job.host(pe), *context, {other, SegmentId::heap, 4096}, data.data(), (round % 2 ? 20 : 2000) * 8,
                      {SegmentId::heap, 8, round, SignalOp::set});
      job.wait_until(pe, 8, round);
      ASSERT_EQ(job.load(pe, 4096), round);
      ASSERT_EQ(job.load(pe, 4096 + 19 * 8), round);
      EXPECT_EQ(host_amo(job.host(pe), *context, {other, SegmentId::heap, 16}, {AmoOp::fetch_add, 8, 1, 0}), round - 1);
      job.barrier();
    }
    job.host(pe).quiet(*context);
  });
}
TEST(FlushEngine, SignalsFollowTheirData) {
  for (const FlushPolicy policy : {FlushPolicy::read, FlushPolicy::write_read}) {
    signals_follow_their_data(kFlushing<1>, policy);
    signals_follow_their_data(kFlushing<3>, policy);
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

constexpr Setup<NotingFabric> kNoting{"Noting", [](const NetworkConfig& config, const Tuning& tuning) {
                                        return std::make_unique<Engine<NotingFabric>>(TransportKind::loopback, config,
                                                                                      tuning, config,
                                                                                      loopback::Options{.rails = 2});
                                      }};

TEST(FlushEngine, MemoryIsReleasedInOrder) {
  events.clear();
  { EngineJob<NotingFabric> job(kNoting, {.npes = 1, .flush = FlushPolicy::read, .flush_offset = 512}); }
  EXPECT_EQ(events, (std::vector<std::string>{"register 128", "unregister", "fabric ends"}));
  events.clear();
  { EngineJob<NotingFabric> job(kNoting, {.npes = 1}); }
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

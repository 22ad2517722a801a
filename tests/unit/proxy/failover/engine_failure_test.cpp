// SPDX-License-Identifier: BSD-3-Clause
// What a job says when an operation fails or a peer is silent.
#include <gtest/gtest.h>

#include "src/proxy/engine.h"
#include "tests/support/engine_job.h"
#include "tests/support/flaky_fabric.h"
#include "tests/support/host_calls.h"
#include "transports/loopback/fabric.h"

namespace railshmem::test {
namespace {

/// One fabric for all tests; without a bad day it is as good as the one inside.
using FlakyFabric = Flaky<loopback::Fabric>;
constexpr FlakyOptions kCalm{.again_one_in = 0, .delay_polls = 0};

std::unique_ptr<Engine<FlakyFabric>> make(const NetworkConfig& config, const Tuning& tuning,
                                          const FlakyOptions& options) {
  return std::make_unique<Engine<FlakyFabric>>(TransportKind::loopback, config, tuning, config, options);
}

template <Failure kFailure>
constexpr Setup<FlakyFabric> kFailing{"Failing", [](const NetworkConfig& config, const Tuning& tuning) {
                                        FlakyOptions options = kCalm;
                                        options.fail_post = 3;
                                        options.failure = kFailure;
                                        return make(config, tuning, options);
                                      }};

void put_until_failure(const Setup<FlakyFabric>& setup) {
  EngineJob<FlakyFabric> job(setup, {.npes = 3});
  NetContext* context = job.engine(0).make_context();
  const uint64_t value = 1;
  for (int i = 0; i < 3; ++i) host_put(job.host(0), *context, heap(2, 0), &value, 8);
  job.host(0).quiet(*context);
}

class EngineDeathTest : public testing::Test {
 protected:
  EngineDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(EngineDeathTest, FailedOperationIsNamed) {
  EXPECT_EXIT(put_until_failure(kFailing<Failure::event>), testing::ExitedWithCode(1),
              "put of 8 bytes to PE 2 over flaky loopback failed: Input/output error; look");
  EXPECT_EXIT(put_until_failure(kFailing<Failure::post>), testing::ExitedWithCode(1),
              "put of 8 bytes to PE 2 over flaky loopback failed: Input/output error; look");
}
TEST_F(EngineDeathTest, NamelessFailureNamesTheRail) {
  EXPECT_EXIT(put_until_failure(kFailing<Failure::nameless_event>), testing::ExitedWithCode(1),
              "rail flaky loopback failed: Input/output error, with outstanding .*put of 8 bytes to PE 2");
}

/// PE 1 never starts its proxy; PE 0 has patience for 0.2 s.
class SilentPeer {
 public:
  SilentPeer() {
    env_.timeout_s = 0.2;
    std::vector<std::vector<std::byte>> descriptors;
    for (int pe = 0; pe < 2; ++pe) {
      engines_.push_back(make({&env_, pe, 2, false, true}, {}, kCalm));
      const Segment segment{SegmentId::heap, reinterpret_cast<std::byte*>(memory_.data()), 64};
      descriptors.push_back(engines_.back()->attach({&segment, 1}));
    }
    for (auto& engine : engines_) engine->connect(descriptors);
    asking().start({});
  }
  Engine<FlakyFabric>& asking() { return *engines_[0]; }
  void ask(NetContext& context, bool fetch) {
    host_amo(asking().host(), context, heap(1, 0), {fetch ? AmoOp::fetch_add : AmoOp::add, 8, 1, 0});
  }

 private:
  Env env_ = Env::parse([](const char*) -> const char* { return nullptr; });
  std::vector<uint64_t> memory_ = std::vector<uint64_t>(16);
  std::vector<std::unique_ptr<Engine<FlakyFabric>>> engines_;
};

void ask_a_silent_peer(bool fetch) {
  SilentPeer job;
  NetContext* context = job.asking().make_context();
  job.ask(*context, fetch);
  job.asking().host().quiet(*context);
}
TEST_F(EngineDeathTest, SilentPeerIsNamedAfterTheTimeout) {
  EXPECT_EXIT(
      ask_a_silent_peer(true), testing::ExitedWithCode(1),
      "atomic operation on 8 bytes at PE 1 over flaky loopback: no progress for 0.2 s: .*by PE 1.*SHMEM_TIMEOUT");
  EXPECT_EXIT(ask_a_silent_peer(false), testing::ExitedWithCode(1),
              "quiet over flaky loopback: no progress for 0.2 s: 1 atomics or signals unanswered, 1 of them by PE 1");
}

/// Its last acknowledgement may have been lost with a rail, or with the peer, who was free to go.
TEST(Engine, WhoStopsDoesNotWaitForAnAcknowledgement) {
  SilentPeer job;
  NetContext* context = job.asking().make_context();
  job.ask(*context, false);
  job.asking().prepare_stop();
  job.asking().stop();
  EXPECT_EQ(context->pending(), 0u);
  job.asking().drop_context(context);  // would end this process after 0.2 s
}

TEST(Engine, FailuresAfterPrepareStopReleaseWhoWaits) {
  EngineJob<FlakyFabric> job(kFailing<Failure::event>, {.npes = 3});
  NetContext* context = job.engine(0).make_context();
  job.engine(0).prepare_stop();
  const uint64_t value = 1;
  for (int i = 0; i < 5; ++i) host_put(job.host(0), *context, heap(2, 0), &value, 8);
  job.host(0).quiet(*context);
  EXPECT_EQ(context->pending(), 0u);
}

}  // namespace
}  // namespace railshmem::test

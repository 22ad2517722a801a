// SPDX-License-Identifier: BSD-3-Clause
// Calls that streams of the fake driver ask for, run by the executor's thread.
#include "src/stream/executor/team_executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/base/cpu.h"
#include "src/cuda/context_guard.h"
#include "src/cuda/host_call.h"
#include "src/cuda/pinned.h"
#include "tests/gpu/fake_driver/fake_driver.h"

namespace railshmem {
namespace {

/// Told apart by their names.
constexpr const char* kNames[] = {"call 0", "call 1", "call 2", "call 3", "call 4", "call 5", "call 6", "call 7"};

std::shared_ptr<const StreamedCollective> call_of(size_t i) {
  NodeLayout layout;
  layout.members = layout.leaders = layout.node_of_pe = {0};
  PeState state;
  Team team(state, PeSet{0, 1, 1}, 0, 0, layout, 0);
  return std::make_shared<const StreamedCollective>(Coll{kNames[i], CollKind::allgather, team}, Buffers::symmetric);
}

/// An executor whose calls only write down their names.
class Rig {
 public:
  explicit Rig(unsigned late_us = 0) : fake_({.late_us = late_us}), guard_(gpu_) {
    executor_.emplace(
        TeamExecutor::Config{host_word(), 0, "the team of the test", true, {}, [this](const StreamedCollective& call) {
                               note(call.function());
                             }});
    EXPECT_EQ(fake_.driver().stream_create(&stream_, cuda::kStreamNonBlocking, 0), cuda::kSuccess);
  }
  ~Rig() {
    executor_.reset();
    EXPECT_EQ(fake_.driver().stream_destroy(stream_), cuda::kSuccess);
  }

  TeamExecutor& executor() { return *executor_; }
  void ask(uint32_t number) {
    std::array ops = cuda::ask_host_ops(reinterpret_cast<cuda::CallWord*>(word_.device()), number);
    ASSERT_EQ(fake_.driver().stream_word_ops(stream_, ops.size(), ops.data(), 0), cuda::kSuccess);
  }
  void synchronize() { ASSERT_EQ(fake_.driver().stream_synchronize(stream_), cuda::kSuccess); }
  /// What happens while a call runs.
  void when_runs(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }
  void write_word(uint32_t number) { __atomic_store_n(host_word(), number, __ATOMIC_RELEASE); }
  std::vector<std::string> ran() {
    const std::lock_guard lock(mutex_);
    return ran_;
  }

 private:
  cuda::CallWord* host_word() { return reinterpret_cast<cuda::CallWord*>(word_.host()); }
  void note(const char* name) {
    const std::lock_guard lock(mutex_);
    ran_.push_back(name);
    if (meanwhile_) meanwhile_();
  }

  cuda::FakeDriver fake_;
  const cuda::DeviceContext gpu_ = cuda::DeviceContext::primary(fake_.driver(), 0);
  const cuda::ContextGuard guard_;
  cuda::PinnedMemory word_{gpu_, 64};
  cuda::Stream stream_ = nullptr;
  std::function<void()> meanwhile_;
  std::mutex mutex_;
  std::vector<std::string> ran_;
  std::optional<TeamExecutor> executor_;
};

TEST(TeamExecutor, RunsCallsInTheOrderOfTheStream) {
  Rig rig(20);
  std::vector<std::string> given;
  for (size_t i = 0; i < 50; ++i) {
    rig.ask(rig.executor().calls().add(call_of(i % 8), Lifetime::once));
    given.push_back(kNames[i % 8]);
  }
  rig.synchronize();
  EXPECT_EQ(rig.ran(), given);
}

TEST(TeamExecutor, TheStreamGoesOnOnlyWhenTheCallHasRun) {
  Rig rig;
  for (size_t i = 1; i <= 20; ++i) {
    rig.ask(rig.executor().calls().add(call_of(i % 8), Lifetime::once));
    rig.synchronize();
    ASSERT_EQ(rig.ran().size(), i);
  }
}

TEST(TeamExecutor, ACapturedCallRunsAtEveryReplay) {
  Rig rig(20);
  const uint32_t first = rig.executor().calls().add(call_of(1), Lifetime::replayed);
  const uint32_t second = rig.executor().calls().add(call_of(2), Lifetime::replayed);
  std::vector<std::string> expected;
  for (int replay = 0; replay < 20; ++replay) {
    for (const uint32_t number : {first, first, second}) rig.ask(number);
    expected.insert(expected.end(), {kNames[1], kNames[1], kNames[2]});
  }
  rig.synchronize();
  EXPECT_EQ(rig.ran(), expected);
}

TEST(TeamExecutor, AReplayBehindTheEndOfTheTeamEndsTheJob) {
  EXPECT_EXIT(
      {
        Rig rig;
        const uint32_t number = rig.executor().calls().add(call_of(1), Lifetime::replayed);
        rig.executor().leave("its team has been destroyed");
        rig.ask(number);
        rig.synchronize();
      },
      testing::ExitedWithCode(1),
      "call 1: a graph was launched that captured this call, but its team has been destroyed");
}

/// What two streams do that use one team without an order.
TEST(TeamExecutor, AStreamThatAsksWhileACallRunsEndsTheJob) {
  EXPECT_EXIT(
      {
        Rig rig;
        const uint32_t second = rig.executor().calls().add(call_of(2), Lifetime::replayed);
        rig.when_runs([&] { rig.write_word(second); });
        rig.ask(rig.executor().calls().add(call_of(1), Lifetime::once));
        rig.synchronize();
      },
      testing::ExitedWithCode(1), "call 1: two streams use the team of the test at once.*cudaStreamWaitEvent");
}

TEST(TeamExecutor, AStreamThatWritesOverAnotherOnesCallEndsTheJob) {
  EXPECT_EXIT(
      {
        Rig rig;
        rig.executor().calls().add(call_of(1), Lifetime::once);
        rig.ask(rig.executor().calls().add(call_of(2), Lifetime::once));
        rig.synchronize();
      },
      testing::ExitedWithCode(1), "call 2: two streams use the team of the test at once");
}

}  // namespace
}  // namespace railshmem

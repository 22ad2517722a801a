// SPDX-License-Identifier: BSD-3-Clause
// Puts that streams ask for, run by the executor's thread. All memory is this PE's own, so they are complete at once,
// unless a test says that something is still under way.
#include "src/stream/executor/transfer_executor.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "src/base/yield.h"
#include "src/proxy/post/net_context.h"
#include "src/stream/executor/call_word.h"

namespace railshmem {
namespace {

constexpr uint32_t kCallWords = 64;
constexpr Operation kOnePut{OpKind::put, 0, 8};

class TransferRig {
 public:
  explicit TransferRig(size_t contexts = 2) {
    SegmentView& heap = state_.segment[0];
    heap.base = heap.node_base = reinterpret_cast<uintptr_t>(memory.data());
    heap.nbytes = sizeof memory;
    heap.slots = 1;
    TransferExecutor::Config config{words_.data(), kCallWords, 0, true, {}, &state_, {}};
    for (size_t i = 0; i < contexts; ++i) {
      contexts_.push_back(std::make_unique<NetContext>(static_cast<uint16_t>(i), 1));
      config.contexts.push_back(contexts_.back().get());
    }
    executor_.emplace(std::move(config));
  }

  TransferExecutor& executor() { return *executor_; }
  /// A put of memory[from] to memory[to].
  HostTransfer transfer(size_t to, size_t from) {
    HostTransfer put{"put", {cuda::StreamStep::put}};
    put.call.dest = &memory[to];
    put.call.source = &memory[from];
    put.call.nbytes = sizeof memory[0];
    return put;
  }
  uint32_t put(size_t to, size_t from, Lifetime lifetime = Lifetime::once) {
    return executor_->calls().add(transfer(to, from), lifetime);
  }
  /// What streams do.
  void ask(uint32_t number) { write(number, number); }
  void write(uint32_t number, cuda::CallWord word) { __atomic_store_n(&words_[number - 1], word, __ATOMIC_RELEASE); }
  bool goes_on(uint32_t number) { return __atomic_load_n(&words_[number - 1], __ATOMIC_ACQUIRE) == 0; }
  bool runs(uint32_t number) { return __atomic_load_n(&words_[number - 1], __ATOMIC_ACQUIRE) == (number | kCallRuns); }
  template <class Reached>
  static void await(Reached&& reached) {
    while (!reached()) yield_cpu(0);
  }
  void run(uint32_t number) {
    ask(number);
    await([&] { return goes_on(number); });
  }
  NetContext& context(size_t i) { return *contexts_[i]; }

  std::array<uint64_t, 128> memory{};

 private:
  std::array<cuda::CallWord, kCallWords> words_{};
  PeState state_;
  std::vector<std::unique_ptr<NetContext>> contexts_;
  std::optional<TransferExecutor> executor_;
};

TEST(TransferExecutor, RunsCallsInAnyOrder) {
  TransferRig rig;
  for (uint64_t i = 0; i < 40; ++i) rig.memory[i] = i + 1;
  std::vector<uint32_t> numbers;
  for (size_t i = 0; i < 40; ++i) numbers.push_back(rig.put(64 + i, i));
  for (size_t i = numbers.size(); i-- > 0;) rig.ask(numbers[i]);
  for (const uint32_t number : numbers) TransferRig::await([&] { return rig.goes_on(number); });
  for (uint64_t i = 0; i < 40; ++i) EXPECT_EQ(rig.memory[64 + i], i + 1);
  TransferRig::await([&] { return rig.executor().calls().empty(); });
}

TEST(TransferExecutor, AStreamGoesOnOnlyWhenItsTransferIsComplete) {
  TransferRig rig(1);
  rig.context(0).opened(kOnePut);
  const uint32_t number = rig.put(64, 0);
  rig.ask(number);
  TransferRig::await([&] { return rig.runs(number); });
  for (int i = 0; i < 100; ++i) yield_cpu(0);
  EXPECT_FALSE(rig.goes_on(number));
  rig.context(0).closed(kOnePut);
  TransferRig::await([&] { return rig.goes_on(number); });
}

TEST(TransferExecutor, CallsBeyondThoseUnderWayWaitForTheirTurn) {
  TransferRig rig(1);
  rig.context(0).opened(kOnePut);
  rig.memory[1] = 5;
  const uint32_t first = rig.put(64, 0), second = rig.put(65, 1);
  rig.ask(first);
  TransferRig::await([&] { return rig.runs(first); });
  rig.ask(second);
  for (int i = 0; i < 100; ++i) yield_cpu(0);
  EXPECT_FALSE(rig.runs(second));
  rig.context(0).closed(kOnePut);
  TransferRig::await([&] { return rig.goes_on(second); });
  EXPECT_EQ(rig.memory[65], 5u);
}

/// Two instances of one graph. The signal counts the runs.
TEST(TransferExecutor, ALaunchThatComesWhileTheCallRunsHasItRunAgain) {
  TransferRig rig;
  HostTransfer counted = rig.transfer(64, 0);
  counted.call.step = cuda::StreamStep::put_signal;
  counted.call.word = &rig.memory[100];
  counted.call.value = 1;
  counted.call.code = SHMEM_SIGNAL_ADD;
  const uint32_t number = rig.executor().calls().add(counted, Lifetime::replayed);
  rig.context(0).opened(kOnePut);
  rig.ask(number);
  TransferRig::await([&] { return rig.runs(number); });
  rig.ask(number);
  for (int i = 0; i < 100; ++i) yield_cpu(0);
  EXPECT_FALSE(rig.goes_on(number));
  rig.context(0).closed(kOnePut);
  TransferRig::await([&] { return rig.goes_on(number); });
  EXPECT_EQ(rig.memory[100], 2u);
}

TEST(TransferExecutor, ACapturedCallRunsAtEveryLaunch) {
  TransferRig rig;
  const uint32_t number = rig.put(64, 0, Lifetime::replayed);
  for (uint64_t i = 1; i <= 20; ++i) {
    rig.memory[0] = i;
    rig.run(number);
    EXPECT_EQ(rig.memory[64], i);
  }
}

TEST(TransferExecutor, LeavesWhenNothingIsUnderWay) {
  TransferRig rig;
  rig.run(rig.put(64, 0));
  rig.executor().leave("the test is over");
  EXPECT_TRUE(rig.executor().calls().empty());
}

TEST(TransferExecutor, ACallBehindTheEndEndsTheJob) {
  EXPECT_EXIT(
      {
        TransferRig rig;
        const uint32_t number = rig.put(64, 0);
        rig.executor().leave("shmem_finalize has been called");
        rig.run(number);
      },
      testing::ExitedWithCode(1), "put: a stream has come to this call, but shmem_finalize has been called");
}

TEST(TransferExecutor, AWordWithAnotherNumberEndsTheJob) {
  EXPECT_EXIT(
      {
        TransferRig rig;
        rig.write(rig.put(64, 0), 77);
        TransferRig::await([] { return false; });
      },
      testing::ExitedWithCode(1), "a stream asks for call 77.*the program has overwritten the library's memory");
}

}  // namespace
}  // namespace railshmem

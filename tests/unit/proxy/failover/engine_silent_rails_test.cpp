// SPDX-License-Identifier: BSD-3-Clause
// All rails but one go silent, whichever they are: as long as one rail lives, every operation completes over it.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/cabled_engine.h"
#include "tests/support/host_calls.h"

namespace railshmem::test {
namespace {

enum class Asked { put, striped_put, put_signal, get, amo };

constexpr size_t kSilentWord = 8, kSilentSignal = 16, kSilentSeen = 64, kSilentData = 4096, kSilentBytes = 40000;
constexpr int kSilentTarget = 1;

/// PE 0 and PE 1; the cables of PE 1 are pulled.
class SilentJob {
 public:
  explicit SilentJob(size_t rails)
      : rails_(rails),
        cables_(2, rails),
        job_(cabled_with(cables_, {}), {.tuning = hasty()}),
        context_(job_.engine(0).make_context()),
        source_(filled(0, 1, kSilentBytes)) {
    for (int pe = 0; pe < 2; ++pe) {
      const std::vector<std::byte> bytes = filled(pe, 1, kSilentBytes);
      if (pe == kSilentTarget) std::memcpy(job_.base(pe) + kSilentData + kSilentBytes, bytes.data(), kSilentBytes);
    }
  }

  /// Rails are taken in turn: so many posts decide which rail is next.
  void advance(size_t posts) {
    for (size_t i = 0; i < posts; ++i)
      host_put(job_.host(0), *context_, heap(kSilentTarget, kSilentSeen), source_.data(), 8);
    job_.host(0).quiet(*context_);
  }
  void silence(size_t r) { cables_.pull(kSilentTarget, r); }
  void silence_all_but(size_t alive) {
    for (size_t r = 0; r < rails_; ++r)
      if (r != alive) silence(r);
  }

  /// Makes an operation complete and checks what it did.
  void expect(Asked what) {
    auto& host = job_.host(0);
    std::vector<std::byte> got(kSilentBytes);
    switch (what) {
      case Asked::put:
        host_put(host, *context_, heap(kSilentTarget, kSilentData), source_.data(), 400);
        break;
      case Asked::striped_put:
        host_put(host, *context_, heap(kSilentTarget, kSilentData), source_.data(), kSilentBytes);
        break;
      case Asked::put_signal:
        host_put_signal(host, *context_, heap(kSilentTarget, kSilentData), source_.data(), kSilentBytes,
                        {SegmentId::heap, kSilentSignal, 1, SignalOp::add});
        break;
      case Asked::get:
        host_get(host, *context_, heap(kSilentTarget, kSilentData + kSilentBytes), got.data(), kSilentBytes);
        EXPECT_EQ(got, filled(kSilentTarget, 1, kSilentBytes));
        return;
      case Asked::amo:
        EXPECT_EQ(host_amo(host, *context_, heap(kSilentTarget, kSilentWord), {AmoOp::fetch_add, 8, 3, 0}), 3 * amos_);
        EXPECT_EQ(job_.load(kSilentTarget, kSilentWord), 3 * ++amos_);
        return;
    }
    host.quiet(*context_);
    if (what == Asked::put_signal) {
      EXPECT_EQ(job_.load(kSilentTarget, kSilentSignal), ++signals_);
    }
    const size_t nbytes = what == Asked::put ? 400 : kSilentBytes;
    EXPECT_EQ(std::memcmp(job_.base(kSilentTarget) + kSilentData, source_.data(), nbytes), 0);
    std::memset(job_.base(kSilentTarget) + kSilentData, 0, nbytes);
  }
  void expect_each() {
    for (const Asked what : {Asked::put, Asked::striped_put, Asked::put_signal, Asked::get, Asked::amo}) expect(what);
  }
  EngineJob<CableFabric>& job() { return job_; }

 private:
  const size_t rails_;
  Cables cables_;
  EngineJob<CableFabric> job_;
  NetContext* const context_;
  const std::vector<std::byte> source_;
  uint64_t amos_ = 0;
  uint64_t signals_ = 0;
};

class EngineSilentRails : public testing::TestWithParam<std::tuple<size_t, Asked>> {};

// The operation begins on each of the rails in turn, whether it is silent or lives.
TEST_P(EngineSilentRails, TheOneThatLivesTakesTheOperation) {
  const auto [rails, what] = GetParam();
  for (size_t alive = 0; alive < rails; ++alive)
    for (size_t turn = 0; turn < rails; ++turn) {
      SCOPED_TRACE("rail " + std::to_string(alive) + " lives, after " + std::to_string(turn) + " posts");
      SilentJob job(rails);
      job.advance(turn);
      job.silence_all_but(alive);
      job.expect(what);
    }
}

constexpr const char* kOperationNames[] = {"Put", "StripedPut", "PutSignal", "Get", "Amo"};

INSTANTIATE_TEST_SUITE_P(Rails, EngineSilentRails,
                         testing::Combine(testing::Values(3, 4),
                                          testing::Values(Asked::put, Asked::striped_put, Asked::put_signal, Asked::get,
                                                          Asked::amo)),
                         [](const auto& of) {
                           return kOperationNames[static_cast<size_t>(std::get<1>(of.param))] +
                                  std::to_string(std::get<0>(of.param));
                         });

// Down to the last rail, in any order; between two outages every kind of operation completes.
TEST(EngineSilentRailsInTurn, TheLastOneCarriesAll) {
  constexpr size_t kRails = 5;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<size_t> order(kRails);
    std::iota(order.begin(), order.end(), size_t{0});
    std::mt19937 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    SilentJob job(kRails);
    job.expect_each();
    for (size_t i = 0; i + 1 < kRails; ++i) {
      job.silence(order[i]);
      job.expect_each();
    }
  }
}

// As at the end of a program: data, then a signal to each other as in a barrier, then the engines stop. The rails go
// silent before one of these steps.
TEST(EngineSilentRailsAtTheEnd, BothPesLeave) {
  constexpr size_t kRails = 3;
  for (size_t alive = 0; alive < kRails; ++alive)
    for (int step = 0; step < 3; ++step) {
      SCOPED_TRACE("rail " + std::to_string(alive) + " lives, silent before step " + std::to_string(step));
      SilentJob silent(kRails);
      EngineJob<CableFabric>& job = silent.job();
      job.run([&](int pe) {
        const int peer = 1 - pe;
        auto& host = job.host(pe);
        NetContext* const context = job.engine(pe).make_context();
        const auto before = [&](int next) {
          job.barrier();
          if (pe == 0 && next == step) silent.silence_all_but(alive);
          job.barrier();
        };
        const std::vector<std::byte> bytes = filled(pe, 7, 3000);
        before(0);
        host_put_nbi(host, *context, heap(peer, 4 * kSilentData), bytes.data(), bytes.size());
        before(1);
        host.quiet(*context);
        host_amo(host, *context, heap(peer, kSilentSeen), {AmoOp::set, 8, 1, 0});
        job.wait_until(pe, kSilentSeen, 1);
        EXPECT_EQ(std::memcmp(job.base(pe) + 4 * kSilentData, filled(peer, 7, 3000).data(), 3000), 0);
        host.quiet(*context);
        before(2);
      });
    }
}

}  // namespace
}  // namespace railshmem::test

// SPDX-License-Identifier: BSD-3-Clause
// Engines over cables that are pulled and plugged in at random: what arrives must be right, and happen once.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/cabled_engine.h"
#include "tests/support/host_calls.h"
#include "tests/support/tickets.h"

namespace railshmem::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kPes = 3;
constexpr int kSlots = 2;  ///< per source and target
constexpr size_t kLongest = 45000;
constexpr size_t kSizes[] = {8, 100, 3000, 9000, 20000, kLongest};
constexpr uint64_t kLeastPulls = 6;  ///< of cables, while messages travel

// Where things are in every heap.
constexpr size_t signal_at(int source, int slot) {
  return 8 * static_cast<size_t>(kSlots * source + slot);
}
constexpr size_t ack_at(int target, int slot) {
  return 256 + 8 * static_cast<size_t>(kSlots * target + slot);
}
constexpr size_t kAdded = 512, kTickets = 520;
constexpr size_t kConstants = 4096, kConstantBytes = 30000;
constexpr size_t data_at(int source, int slot) {
  return 65536 * static_cast<size_t>(1 + kSlots * source + slot);
}

constexpr Remote heap(int pe, size_t offset) {
  return {pe, SegmentId::heap, offset};
}
size_t size_of(uint64_t message) {
  return kSizes[message * 7 % std::size(kSizes)];
}

/// What one PE does, and what it finds wrong.
class Worker {
 public:
  Worker(EngineJob<CableFabric>& job, int pe, uint64_t seed) : job_(job), host_(job.host(pe)), pe_(pe), random_(seed) {
    context_ = job.engine(pe).make_context();
  }

  void work(std::atomic<bool>& stop, std::atomic<int>& finished) {
    bool counted = false;
    Clock::time_point deadline = Clock::now() + 1h;
    while (finished.load() < job_.npes() && Clock::now() < deadline) {
      const bool stops = stop.load();
      if (stops) deadline = std::min(deadline, Clock::now() + 5s);
      for (int peer = 0; peer < job_.npes(); ++peer) {
        if (peer == pe_) continue;
        for (int slot = 0; slot < kSlots; ++slot) {
          if (!stops) produce(peer, slot);
          consume(peer, slot);
        }
      }
      if (!stops) others();
      if (stops && !counted && all_acknowledged()) {
        counted = true;
        finished.fetch_add(1);
      }
      host_.progress();
      std::this_thread::yield();
    }
    if (finished.load() < job_.npes()) ++wrong;  // an acknowledgement is lost, or was overwritten
    host_.quiet(*context_);
  }

  uint64_t wrong = 0;
  uint64_t added = 0;
  uint64_t messages = 0;
  std::vector<uint64_t> tickets;

 private:
  struct Outgoing {
    uint64_t sent = 0;
    std::vector<std::byte> bytes;
  };
  struct Incoming {
    uint64_t got = 0;
    int keeps = 0;  ///< rounds until it is acknowledged; what arrives late meanwhile is found
  };

  uint64_t random(uint64_t n) { return random_() % n; }
  /// The content is a function of all that tells one message from another.
  static std::vector<std::byte> content(int source, int target, int slot, uint64_t message) {
    return filled(source * 8 + target * 2 + slot, message, size_of(message));
  }

  void produce(int peer, int slot) {
    Outgoing& out = outgoing_[peer][slot];
    if (job_.load(pe_, ack_at(peer, slot)) != out.sent) return;
    const uint64_t message = ++out.sent;
    ++messages;
    const NetSignal signal{SegmentId::heap, signal_at(pe_, slot), message, SignalOp::set};
    const Remote to = heap(peer, data_at(pe_, slot));
    const int way = static_cast<int>(random(3));
    std::vector<std::byte> bytes = content(pe_, peer, slot, message);
    if (way == 1) {  // the source stays as it is until the acknowledgement
      out.bytes = std::move(bytes);
      return host_put_signal_nbi(host_, *context_, to, out.bytes.data(), out.bytes.size(), signal);
    }
    if (way == 0) {
      host_put_signal(host_, *context_, to, bytes.data(), bytes.size(), signal);
    } else {
      host_put(host_, *context_, to, bytes.data(), bytes.size());
      host_.fence(*context_);
      host_amo(host_, *context_, heap(peer, signal.offset), {AmoOp::set, 8, message, 0});
    }
    std::fill(bytes.begin(), bytes.end(), std::byte{0xee});
  }

  void consume(int peer, int slot) {
    Incoming& in = incoming_[peer][slot];
    if (in.keeps > 0) {
      if (--in.keeps > 0) return;
      compare(peer, slot, in.got);
      host_put(host_, *context_, heap(peer, ack_at(pe_, slot)), &in.got, sizeof in.got);
      return;
    }
    const uint64_t signal = job_.load(pe_, signal_at(peer, slot));
    if (signal == in.got) return;
    if (signal != in.got + 1) ++wrong;
    in.got = signal;
    compare(peer, slot, signal);
    in.keeps = 1 + static_cast<int>(random(4));
  }

  void compare(int peer, int slot, uint64_t message) {
    const std::vector<std::byte> expected = content(peer, pe_, slot, message);
    if (std::memcmp(job_.base(pe_) + data_at(peer, slot), expected.data(), expected.size()) != 0) ++wrong;
  }

  void others() {
    const int peer = static_cast<int>(random(static_cast<uint64_t>(job_.npes())));
    switch (random(8)) {
      case 0:
        tickets.push_back(host_amo(host_, *context_, heap(0, kTickets), {AmoOp::fetch_add, 8, 1, 0}));
        return;
      case 1: {
        const size_t n = 1 + random(kConstantBytes);
        std::vector<std::byte> bytes(n);
        host_get(host_, *context_, heap(peer, kConstants), bytes.data(), n);
        if (std::memcmp(bytes.data(), filled(peer, 0, n).data(), n) != 0) ++wrong;
        return;
      }
      default:
        host_amo(host_, *context_, heap(1, kAdded), {AmoOp::add, 8, 1, 0});
        ++added;
    }
  }

  bool all_acknowledged() {
    for (int peer = 0; peer < job_.npes(); ++peer)
      for (int slot = 0; slot < kSlots; ++slot)
        if (job_.load(pe_, ack_at(peer, slot)) != outgoing_[peer][slot].sent) return false;
    return true;
  }

  EngineJob<CableFabric>& job_;
  HostSide<CableFabric::RailType>& host_;
  const int pe_;
  std::mt19937_64 random_;
  NetContext* context_;
  Outgoing outgoing_[kPes][kSlots];
  Incoming incoming_[kPes][kSlots];
};

struct Result {
  uint64_t wrong = 0;
  uint64_t messages = 0;
  uint64_t pulls = 0;
};

/// At any time one rail at least is whole from end to end.
Result run(size_t rails, Clock::duration how_long, const CableOptions& options, uint64_t seed) {
  Cables cables(kPes, rails);
  EngineJob<CableFabric> job(cabled_with(cables, options), {.npes = kPes, .tuning = hasty()});
  for (int pe = 0; pe < kPes; ++pe) {
    const std::vector<std::byte> constants = filled(pe, 0, kConstantBytes);
    std::memcpy(job.base(pe) + kConstants, constants.data(), constants.size());
  }
  std::vector<std::unique_ptr<Worker>> workers;
  for (int pe = 0; pe < kPes; ++pe)
    workers.push_back(std::make_unique<Worker>(job, pe, seed * 100 + static_cast<uint64_t>(pe)));
  std::atomic<bool> stop{false};
  std::atomic<int> finished{0};
  Result result;
  std::thread vandal([&] {
    std::mt19937_64 random(seed);
    const auto begin = Clock::now();
    std::vector<std::pair<int, size_t>> pulled;
    // A machine that others use too takes longer for some cables.
    while (Clock::now() < begin + how_long || (result.pulls < kLeastPulls && Clock::now() < begin + 60s)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5 + random() % 100));
      if (pulled.size() < rails - 1 && random() % 3 != 0) {
        const std::pair<int, size_t> cable{static_cast<int>(random() % kPes), random() % rails};
        if (cables.is_pulled(cable.first, cable.second)) continue;
        cables.pull(cable.first, cable.second);
        pulled.push_back(cable);
        ++result.pulls;
      } else if (!pulled.empty()) {
        const auto cable = pulled[random() % pulled.size()];
        cables.plug(cable.first, cable.second);
        std::erase(pulled, cable);
      }
    }
    for (const auto& cable : pulled) cables.plug(cable.first, cable.second);
    stop.store(true);
  });
  job.run([&](int pe) { workers[static_cast<size_t>(pe)]->work(stop, finished); });
  vandal.join();

  uint64_t added = 0;
  std::vector<uint64_t> tickets;
  for (const auto& worker : workers) {
    result.wrong += worker->wrong;
    result.messages += worker->messages;
    added += worker->added;
    tickets.insert(tickets.end(), worker->tickets.begin(), worker->tickets.end());
  }
  EXPECT_EQ(job.load(1, kAdded), added) << "additions happened twice, or never";
  EXPECT_EQ(job.load(0, kTickets), tickets.size());
  expect_each_once(tickets);
  return result;
}

struct Case {
  size_t rails;
  CableOptions options;
  const char* name;
};

class EngineFailover : public testing::TestWithParam<Case> {};

TEST_P(EngineFailover, EverythingArrivesOnceWhileCablesArePulled) {
  const Result result = run(GetParam().rails, 2s, GetParam().options, 1);
  EXPECT_EQ(result.wrong, 0u);
  EXPECT_GE(result.pulls, kLeastPulls);
  std::printf("%llu messages, %llu cables pulled\n", static_cast<unsigned long long>(result.messages),
              static_cast<unsigned long long>(result.pulls));
}

INSTANTIATE_TEST_SUITE_P(
    Cables, EngineFailover,
    testing::Values(Case{2, {}, "2"}, Case{2, {.message_after_write = false}, "2Unordered"},
                    Case{3, {.patience = 20ms}, "3Failing"},  // before anybody takes them for silent
                    Case{3, {.patience = 60ms}, "3FailingLate"}, Case{3, {.tells_link = true}, "3TellingLinks"},
                    Case{2, {.patience = 30ms, .tells_link = true, .buffers_messages = true}, "2TellingLinksFailing"},
                    Case{4, {.message_after_write = false, .patience = 30ms}, "4UnorderedFailing"}),
    [](const auto& of) { return of.param.name; });

#if !defined(__SANITIZE_THREAD__)  // the race is the point
TEST(EngineFailoverTrial, DataThatArrivesLateIsNoticed) {
  uint64_t wrong = 0;
  for (uint64_t seed = 1; seed <= 10 && wrong == 0; ++seed)
    wrong += run(3, 1s, {.sends_after_close = true}, seed).wrong;
  EXPECT_GT(wrong, 0u);
}
#endif

}  // namespace
}  // namespace railshmem::test

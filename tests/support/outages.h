// SPDX-License-Identifier: BSD-3-Clause
// When a rail of this PE is out: it takes posts, but nothing leaves it and nothing that arrives is told; afterwards
// everything goes on, unless the rail was opened anew. The PEs of a job take turns and one rail is out at a time, so
// every PE is still reached. In its turn a PE's rail goes out in mid-traffic, at a post.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "src/base/cpu.h"
#include "src/proxy/rails/path_table.h"
#include "tests/support/flaky_options.h"

namespace railshmem::test {

class Outages {
 public:
  Outages(const FlakyOptions& options, int pe, int npes, FlakyCounts& counts)
      : seed_(options.seed),
        outage_ns_(static_cast<uint64_t>(options.outage.count()) * 1'000'000),
        pe_(static_cast<uint64_t>(pe)),
        npes_(static_cast<uint64_t>(npes)),
        counts_(counts) {}

  /// The turns of all PEs of this host begin here, by the clock they share. With one rail none occur.
  void begin(uint64_t epoch_ns, size_t rails) noexcept {
    epoch_ns_ = epoch_ns;
    rails_ = rails;
  }

  /// Called at every post on rail `r`, by either port.
  void at_post(size_t r) noexcept {
    if (outage_ns_ == 0 || rails_ < 2) return;
    const uint64_t now = now_ns();
    const uint64_t turn = (now - epoch_ns_) / period_ns();
    if ((seed_ + turn) % npes_ != pe_ || turn >= kTurns * npes_) return;
    if ((now - epoch_ns_) % period_ns() > 2 * outage_ns_) return;  // it would last into the next one's turn
    // relaxed: whoever gets past the exchange sets the time; the rail is out a few posts sooner or later
    if (turn == last_turn_.load(std::memory_order_relaxed)) return;
    if (posts_.fetch_add(1, std::memory_order_relaxed) < posts_before(turn)) return;
    if (last_turn_.exchange(turn, std::memory_order_relaxed) == turn) return;
    posts_.store(0, std::memory_order_relaxed);
    until_ns_[r].store(now + outage_ns_, std::memory_order_relaxed);
    count(counts_.outages);
  }
  bool is_out(size_t r) const noexcept {
    const uint64_t until = until_ns_[r].load(std::memory_order_relaxed);
    return until != 0 && now_ns() < until;
  }

 private:
  static constexpr uint64_t kTurns = 3;  ///< of each PE: a long program shall not take a minute

  /// Long enough for a late begin, the outage, and for the rail to be taken back.
  uint64_t period_ns() const noexcept { return 4 * outage_ns_; }
  uint64_t posts_before(uint64_t turn) const noexcept {
    constexpr uint64_t kMostPosts = 24;  // the shortest program has some more
    const uint64_t x = (seed_ * 0x9e3779b97f4a7c15u + turn) * 0xbf58476d1ce4e5b9u;
    return (x >> 32) % kMostPosts;
  }

  const uint64_t seed_;
  const uint64_t outage_ns_;
  const uint64_t pe_;
  const uint64_t npes_;
  FlakyCounts& counts_;
  uint64_t epoch_ns_ = 0;
  size_t rails_ = 0;
  std::atomic<uint64_t> last_turn_{~uint64_t{0}};
  std::atomic<uint64_t> posts_{0};  ///< in this turn
  std::array<std::atomic<uint64_t>, kMostRails> until_ns_{};
};

}  // namespace railshmem::test

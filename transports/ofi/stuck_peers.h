// SPDX-License-Identifier: BSD-3-Clause
// Which peers have refused all posts of a rail for how long. One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace railshmem::ofi {

/// ofi_rxm says "again" without end while it tries to reach a peer that has died, hence a deadline for each peer. 16
/// bytes per peer.
class StuckPeers {
 public:
  StuckPeers() = default;
  StuckPeers(size_t npes, uint64_t timeout_ns)
      : timeout_ns_(timeout_ns), lull_ns_(std::min(kLullNs, timeout_ns / 4)), stretches_(npes) {}

  /// A post to `pe` found no room. True when none has found room for the whole timeout, while somebody kept trying.
  bool refused(int pe, uint64_t now_ns) noexcept {
    Stretch& stretch = stretches_[static_cast<size_t>(pe)];
    const bool goes_on = stretch.is_open && now_ns - stretch.last_ns <= lull_ns_;
    if (!stretch.is_open) ++open_;
    if (!goes_on) stretch.first_ns = now_ns;
    stretch.is_open = true;
    stretch.last_ns = now_ns;
    return now_ns - stretch.first_ns >= timeout_ns_;
  }
  /// A post to `pe` was taken, or the peer is reached in another way from now on.
  void accepted(int pe) noexcept {
    if (open_ == 0) [[likely]]
      return;
    Stretch& stretch = stretches_[static_cast<size_t>(pe)];
    open_ -= stretch.is_open;
    stretch.is_open = false;
  }
  void clear() noexcept {
    std::fill(stretches_.begin(), stretches_.end(), Stretch{});
    open_ = 0;
  }

 private:
  /// Whoever waits for room tries far more often. After a longer pause nobody was waiting: a refusal before the pause
  /// says nothing of the time since.
  static constexpr uint64_t kLullNs = 1'000'000'000;

  struct Stretch {
    uint64_t first_ns = 0;
    uint64_t last_ns : 63 = 0;
    uint64_t is_open : 1 = 0;
  };

  uint64_t timeout_ns_ = 0;
  uint64_t lull_ns_ = 0;
  size_t open_ = 0;                 ///< stretches; none while all is well
  std::vector<Stretch> stretches_;  ///< by PE
};

}  // namespace railshmem::ofi

// SPDX-License-Identifier: BSD-3-Clause
// How a proxy thread without work waits for commands of kernels.
#pragma once

#include <sys/prctl.h>

#include <cstdint>

namespace railshmem {

/// Kernels wake nobody, so the first command after a silence waits for the end of a nap; and they come in bursts, so
/// the next one is looked for without any.
class KernelPace {
 public:
  KernelPace(uint64_t spin_ns, uint64_t nap_ns, bool oversubscribed) noexcept
      : spin_ns_(spin_ns), nap_ns_(oversubscribed ? kOversubscribedNap * nap_ns : nap_ns) {}

  /// `moves` grows when commands come.
  bool should_nap(uint64_t now, uint64_t moves) noexcept {
    if (moves != seen_) {
      seen_ = moves;
      moved_ns_ = now;
    }
    return now - moved_ns_ >= spin_ns_;
  }
  uint64_t nap_ns() const noexcept { return nap_ns_; }

  /// Between two naps: most providers need a few to move.
  static constexpr uint32_t kTurnsPerNap = 4;

  /// On the thread itself, once: else each nap would be 50 us longer.
  static void nap_precisely() noexcept { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

 private:
  static constexpr uint64_t kOversubscribedNap = 8;  // other PEs, and host threads in place of kernels, want the CPU

  const uint64_t spin_ns_;
  const uint64_t nap_ns_;
  uint64_t seen_ = 0;
  uint64_t moved_ns_ = 0;
};

}  // namespace railshmem

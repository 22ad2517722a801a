// SPDX-License-Identifier: BSD-3-Clause
// How a thread waits: what it does each turn, and when it gives up.
#pragma once

#include <cstdint>

#include "src/base/cpu.h"
#include "src/base/yield.h"

namespace railshmem {

/// What the waiting thread should do now.
enum class Turn : uint8_t { spin, help, give_up };

class WaitTurns {
 public:
  WaitTurns(uint64_t timeout_ns, bool oversubscribed) noexcept : timeout_ns_(timeout_ns), yields_(oversubscribed) {}

  /// `progress` is any number that changes when the endpoint moves; the timeout counts from its last change.
  Turn turn(uint64_t progress) noexcept {
    // No pause instruction: every turn polls a completion queue, which is no tight loop.
    if (++turns_ % kTurnsPerHelp != 0) return Turn::spin;
    if (yields_ && turns_ % kTurnsPerYield == 0) yield_cpu(still_ns_);
    if (turns_ % kTurnsPerClock == 0 && expired(progress)) return Turn::give_up;
    return Turn::help;
  }

 private:
  static constexpr uint32_t kTurnsPerHelp = 16;     // stepping the proxy endpoint costs a second CQ poll
  static constexpr uint32_t kTurnsPerYield = 64;    // a yield costs as much as ten polls
  static constexpr uint32_t kTurnsPerClock = 256;   // reading the clock costs as much as a poll
  static constexpr uint64_t kLongWaitNs = 1000000;  // beyond this a wait is no matter of latency: let others run

  bool expired(uint64_t progress) noexcept {
    const uint64_t now = now_ns();
    if (start_ns_ == 0) start_ns_ = now;
    if (now - start_ns_ > kLongWaitNs) yields_ = true;
    if (moved_ns_ == 0 || progress != progress_) {
      progress_ = progress;
      moved_ns_ = now;
    }
    still_ns_ = now - moved_ns_;
    return still_ns_ > timeout_ns_;
  }

  const uint64_t timeout_ns_;
  bool yields_;
  uint32_t turns_ = 0;
  uint64_t start_ns_ = 0;
  uint64_t moved_ns_ = 0;
  uint64_t still_ns_ = 0;  ///< since then, at the last look at the clock
  uint64_t progress_ = 0;
};

}  // namespace railshmem

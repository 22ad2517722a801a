// SPDX-License-Identifier: BSD-3-Clause
// A point in time until which something may take.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/base/cpu.h"

namespace railshmem {

class Deadline {
 public:
  /// Capped at a year so that any SHMEM_TIMEOUT fits in nanoseconds.
  explicit Deadline(double seconds) noexcept
      : end_ns_(now_ns() + static_cast<uint64_t>(std::clamp(seconds, 0.0, 3.0e7) * 1e9)) {}

  /// Of a limit that the user gave, such as SHMEM_TIMEOUT, where 0 means none; `slack_s` more than that.
  static Deadline of_limit(double limit_s, double slack_s = 0) noexcept {
    constexpr double kNever = 3.0e7;
    return Deadline(limit_s > 0 ? limit_s + slack_s : kNever);
  }

  bool passed() const noexcept { return now_ns() >= end_ns_; }
  /// Milliseconds left for poll(): at most `slice_ms`, rounded up so that the last slice does not spin.
  int slice_ms(int slice_ms) const noexcept {
    const uint64_t now = now_ns();
    if (now >= end_ns_) return 0;
    return static_cast<int>(std::min<uint64_t>((end_ns_ - now + 999999) / 1000000, static_cast<uint64_t>(slice_ms)));
  }

 private:
  uint64_t end_ns_;
};

/// Longest sleep of a waiting PE: another thread's failure() may take the awaited message off the socket, and
/// poll() does not tell.
inline constexpr int kWaitSliceMs = 10;

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// How fast a rail moves long operations, measured while it moves them.
#pragma once

#include <cstdint>

namespace railshmem {

/// Bytes per nanosecond, averaged over the last few measurements. A measurement is at least kSample bytes that
/// completed while the rail was never idle.
class RailMeter {
 public:
  void posted(uint64_t nbytes, uint64_t now_ns) noexcept {
    if (in_flight_ == 0) begin(now_ns);
    in_flight_ += nbytes;
  }
  void completed(uint64_t nbytes, uint64_t now_ns) noexcept {
    in_flight_ -= nbytes;
    moved_ += nbytes;
    if (moved_ < kSample || now_ns <= since_ns_) return;
    const double rate = static_cast<double>(moved_) / static_cast<double>(now_ns - since_ns_);
    // A quarter: one odd measurement moves little, and a changed rail is known after some MiB.
    rate_ = rate_ == 0 ? rate : 0.75 * rate_ + 0.25 * rate;
    begin(now_ns);
  }
  /// They never complete.
  void lost(uint64_t nbytes) noexcept { in_flight_ -= nbytes; }

  uint64_t in_flight() const noexcept { return in_flight_; }
  /// 0: not measured yet.
  double rate() const noexcept { return rate_; }

 private:
  static constexpr uint64_t kSample = uint64_t{256} << 10;  // shorter ones measure latency

  void begin(uint64_t now_ns) noexcept {
    since_ns_ = now_ns;
    moved_ = 0;
  }

  uint64_t in_flight_ = 0;
  uint64_t moved_ = 0;  ///< since since_ns_
  uint64_t since_ns_ = 0;
  double rate_ = 0;
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Out-of-order completions turned into the finished prefix.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/base/align.h"

namespace railshmem {

/// Networks finish commands in any order, so a count of completions cannot answer "are the first n finished?".
class Watermark {
 public:
  /// `window`: a power of two >= 64, at least the number of tickets in flight.
  explicit Watermark(size_t window) : done_(window / kBits), mask_(window - 1) {
    assert(is_power_of_two(window) && window >= kBits);
  }

  /// Records that `ticket` is finished, once, in [prefix, prefix + window). Returns the prefix.
  uint64_t complete(uint64_t ticket) noexcept {
    assert(ticket - prefix_ <= mask_ && "ticket is finished twice or is beyond the window");
    if (ticket != prefix_) [[unlikely]] {
      done_[(ticket & mask_) / kBits] |= uint64_t{1} << (ticket % kBits);
      ++ahead_;
      return prefix_;
    }
    ++prefix_;
    if (ahead_ > 0) [[unlikely]]
      take_followers();  // in order, the common case, touches no bit
    return prefix_;
  }

  /// Tickets below this are all finished.
  uint64_t prefix() const noexcept { return prefix_; }
  size_t window() const noexcept { return mask_ + 1; }

 private:
  static constexpr size_t kBits = 64;

  [[gnu::noinline]] void take_followers() noexcept {
    for (;;) {
      uint64_t& bits = done_[(prefix_ & mask_) / kBits];
      const unsigned at = prefix_ % kBits;
      const unsigned run = static_cast<unsigned>(std::countr_one(bits >> at));
      if (run == 0) return;
      const uint64_t ones = run == kBits ? ~uint64_t{0} : (uint64_t{1} << run) - 1;
      bits &= ~(ones << at);
      prefix_ += run;
      ahead_ -= run;
      if (at + run < kBits) return;
    }
  }

  std::vector<uint64_t> done_;  ///< bit t % window: t is finished but not yet in the prefix
  uint64_t mask_;
  uint64_t prefix_ = 0;
  uint64_t ahead_ = 0;  ///< bits set
};

}  // namespace railshmem

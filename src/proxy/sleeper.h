// SPDX-License-Identifier: BSD-3-Clause
// Where the proxy thread sleeps, and how others wake it.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "src/base/unique.h"

namespace railshmem {

class Sleeper {
 public:
  Sleeper();

  /// Sleeps until wake(), until one of `fds` is readable, of which there are kMostRails at most, or for `limit_ns`.
  /// True when one of `fds` was.
  bool sleep(std::span<const int> fds, uint64_t limit_ns) noexcept;

  /// Ends the current sleep, or the next one at once. Any thread.
  void wake() noexcept;

  /// announce() and retract() bracket a long sleep: a thread with work checks asleep() and wakes the sleeper. An
  /// AsymmetricFence stands between the announcement and the last look for work, and between publishing work and
  /// asleep().
  void announce() noexcept { asleep_.store(true, std::memory_order_relaxed); }
  void retract() noexcept { asleep_.store(false, std::memory_order_relaxed); }
  bool asleep() const noexcept { return asleep_.load(std::memory_order_relaxed); }

  int fd() const noexcept { return eventfd_.get(); }

 private:
  UniqueFd eventfd_;
  std::atomic<bool> asleep_{false};
};

}  // namespace railshmem

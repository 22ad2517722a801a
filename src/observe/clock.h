// SPDX-License-Identifier: BSD-3-Clause
// The time base of counters and events: ticks that are cheap to read, made nanoseconds at the end.
#pragma once

#include <cstdint>

#include "src/base/cpu.h"

namespace railshmem::observe {

/// True when the kernel itself keeps time by the cycle counter: then it runs at one rate, on all CPUs alike.
bool cycle_counter_is_a_clock();

/// Ticks are cycles where those are a clock, and CLOCK_MONOTONIC nanoseconds elsewhere. In both cases ns() gives
/// CLOCK_MONOTONIC, so the times of all PEs of a host compare.
class Clock {
 public:
  Clock() : Clock(cycle_counter_is_a_clock()) {}
  explicit Clock(bool cycles) noexcept : cycles_(cycles), first_(read()) {}

  uint64_t ticks() const noexcept { return cycles_ ? rough_clock() : now_ns(); }

  /// The second of the two readings that ns() interpolates between; the longer after the first, the better.
  void calibrate() noexcept;
  uint64_t ns(uint64_t ticks) const noexcept;
  uint64_t span_ns(uint64_t ticks) const noexcept;

 private:
  struct Reading {
    uint64_t ticks;
    uint64_t ns;
  };
  Reading read() const noexcept;

  bool cycles_;
  Reading first_;
  double ns_per_tick_ = 1;
};

}  // namespace railshmem::observe

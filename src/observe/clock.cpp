// SPDX-License-Identifier: BSD-3-Clause
#include "src/observe/clock.h"

#include <string>

#include "src/base/fds.h"

namespace railshmem::observe {

bool cycle_counter_is_a_clock() {
#if defined(__x86_64__)
  return read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource") == "tsc\n";
#else
  return false;  // rough_clock() is CLOCK_MONOTONIC there
#endif
}

/// The tightest of a few pairs: an interrupt between the two readings would shift every time of the PE.
Clock::Reading Clock::read() const noexcept {
  Reading best{};
  uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const uint64_t before = ticks();
    const uint64_t ns = now_ns();
    const uint64_t after = ticks();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + narrowest / 2, ns};
  }
  return best;
}

void Clock::calibrate() noexcept {
  if (!cycles_) return;
  const uint64_t enough = first_.ns + 1'000'000;  // in less than 1 ms an error of 50 ns would bend the scale
  Reading last = read();
  while (last.ns < enough) last = read();
  ns_per_tick_ = static_cast<double>(last.ns - first_.ns) / static_cast<double>(last.ticks - first_.ticks);
}

uint64_t Clock::ns(uint64_t ticks) const noexcept {
  if (!cycles_) return ticks;
  return ticks >= first_.ticks ? first_.ns + span_ns(ticks - first_.ticks) : first_.ns - span_ns(first_.ticks - ticks);
}

uint64_t Clock::span_ns(uint64_t ticks) const noexcept {
  return cycles_ ? static_cast<uint64_t>(static_cast<double>(ticks) * ns_per_tick_) : ticks;
}

}  // namespace railshmem::observe

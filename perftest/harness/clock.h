// SPDX-License-Identifier: BSD-3-Clause
// Time at the price of one instruction where the CPU has a steady counter, CLOCK_MONOTONIC elsewhere.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include <time.h>
#endif

namespace railshmem::perf {

/// A point in time; differences times seconds_per_tick() are seconds. On x86 the fence keeps earlier loads from
/// being counted after the reading; constant_tsc is assumed, as on every x86 server of the last fifteen years.
inline uint64_t ticks() noexcept {
#if defined(__x86_64__)
  _mm_lfence();
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t value;
  asm volatile("isb; mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
#endif
}

/// Calibrated against CLOCK_MONOTONIC at the first call (20 ms).
double seconds_per_tick();

/// The least difference of two readings in a row; subtracted from every sample.
uint64_t tick_overhead();

}  // namespace railshmem::perf

// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/clock.h"

#include <time.h>

#include <algorithm>

namespace railshmem::perf {
namespace {

double monotonic_seconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The thread may be interrupted between the readings of the two clocks; the closest pair of several tries counts.
struct Reading {
  double seconds;
  uint64_t tick;
};
Reading read_both() {
  Reading best{};
  uint64_t smallest = UINT64_MAX;
  for (int i = 0; i < 10; ++i) {
    const uint64_t before = ticks();
    const double seconds = monotonic_seconds();
    const uint64_t after = ticks();
    if (after - before >= smallest) continue;
    smallest = after - before;
    best = {seconds, before + (after - before) / 2};
  }
  return best;
}

double calibrate() {
  const Reading start = read_both();
  const timespec pause{0, 20'000'000};  // 20 ms: two readings 50 ns off are then 5 millionths
  nanosleep(&pause, nullptr);
  const Reading end = read_both();
  return (end.seconds - start.seconds) / static_cast<double>(end.tick - start.tick);
}

uint64_t measure_overhead() {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t start = ticks();
    least = std::min(least, ticks() - start);
  }
  return least;
}

}  // namespace

double seconds_per_tick() {
  static const double value = calibrate();
  return value;
}

uint64_t tick_overhead() {
  static const uint64_t value = measure_overhead();
  return value;
}

}  // namespace railshmem::perf

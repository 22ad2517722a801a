// SPDX-License-Identifier: BSD-3-Clause
// What the CPU offers to a spinning thread.
#pragma once

#include <sched.h>
#include <time.h>

#include <cstdint>

namespace railshmem {

/// Tells the core that this is a spin loop: frees the sibling thread and saves power.
inline void cpu_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Monotonic nanoseconds.
inline uint64_t now_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

/// A clock for rough intervals, cheaper than now_ns(): the cycle counter where there is one.
inline uint64_t rough_clock() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return now_ns();
#endif
}
#if defined(__x86_64__)
inline constexpr uint64_t kRoughTicksPerUs = 2500;  // a few GHz; only the order of magnitude matters
#else
inline constexpr uint64_t kRoughTicksPerUs = 1000;
#endif

/// CPUs that this process may run on (its affinity mask, not the machine's count).
inline int usable_cpus() noexcept {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

}  // namespace railshmem

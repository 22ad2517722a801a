// SPDX-License-Identifier: BSD-3-Clause
// What the CPU offers to a spinning thread, and which CPUs there are.
#pragma once

#include <sched.h>
#include <time.h>

#include <cstdint>
#include <string>

namespace railshmem {

/// Tells the core that this is a spin loop: frees the sibling thread and saves power.
inline void cpu_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // waits some ten cycles; "yield" does nothing on most of these processors
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

/// A set of CPUs as Linux writes it: "0-3,8". Empty for none.
inline std::string cpu_list(const cpu_set_t& cpus) {
  std::string list;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    int last = cpu;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &cpus)) ++last;
    list += (list.empty() ? "" : ",") + std::to_string(cpu);
    if (last > cpu) list += "-" + std::to_string(last);
    cpu = last;
  }
  return list;
}

}  // namespace railshmem

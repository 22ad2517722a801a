// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/yield.h"

#include <sched.h>
#include <time.h>

#include <cstdint>

#include "src/base/cpu.h"

namespace railshmem {
namespace {

constexpr uint64_t kNewWait = 200 * kRoughTicksPerUs;  // between two yields of one wait less time passes
constexpr uint64_t kPatience = 1000 * kRoughTicksPerUs;

struct YieldingThread {
  uint64_t began = 0;  ///< or slept last
  uint64_t yielded = 0;
};
thread_local YieldingThread yielding;

}  // namespace

void yield_cpu() noexcept {
  const uint64_t now = rough_clock();
  if (now - yielding.yielded > kNewWait) yielding.began = now;
  const bool sleeps = now - yielding.began > kPatience;
  if (sleeps) {
    constexpr timespec kInstant{0, 1};
    nanosleep(&kInstant, nullptr);
  } else {
    sched_yield();
  }
  yielding.yielded = rough_clock();
  if (sleeps) yielding.began = yielding.yielded;
}

}  // namespace railshmem

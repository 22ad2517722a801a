// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/yield.h"

#include <sched.h>
#include <time.h>

#include "src/base/cpu.h"

namespace railshmem {
namespace {

constexpr uint64_t kLongWaitNs = 4'000'000;
constexpr uint64_t kBetweenSleeps = 1000 * kRoughTicksPerUs;

thread_local uint64_t t_last_sleep = 0;

}  // namespace

void yield_cpu(uint64_t waited_ns) noexcept {
  if (waited_ns < kLongWaitNs || rough_clock() - t_last_sleep < kBetweenSleeps) {
    sched_yield();
    return;
  }
  constexpr timespec kInstant{0, 1};
  nanosleep(&kInstant, nullptr);
  t_last_sleep = rough_clock();
}

}  // namespace railshmem

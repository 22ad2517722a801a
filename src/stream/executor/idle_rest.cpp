// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/idle_rest.h"

#include <time.h>

#include <algorithm>

#include "src/base/cpu.h"
#include "src/base/yield.h"

namespace railshmem {
namespace {

constexpr uint64_t kSpinNs = 50'000;         // calls of a step follow each other within microseconds
constexpr uint64_t kYieldNs = 2'000'000;     // a step of training takes milliseconds
constexpr uint64_t kNapShare = 64;           // a nap is this part of the idle time: it delays a call by 2 %
constexpr uint64_t kLongestNapNs = 500'000;  // 2000 looks a second, a thousandth of a core

}  // namespace

void idle_rest(uint64_t idle_ns, bool share_cpus) noexcept {
  if (!share_cpus && idle_ns < kSpinNs) {
    for (int i = 0; i < 16; ++i) cpu_pause();
    return;
  }
  if (idle_ns < kYieldNs) return yield_cpu(idle_ns);
  const timespec nap{0, static_cast<long>(std::min(idle_ns / kNapShare, kLongestNapNs))};
  nanosleep(&nap, nullptr);
}

}  // namespace railshmem

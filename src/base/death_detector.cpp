// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/death_detector.h"

#include <time.h>

#include "src/base/process.h"

namespace railshmem {
namespace {

constexpr timespec kPause{0, 10'000'000};
constexpr int kPausesPerTenth = 10;

}  // namespace

// release: pairs with detected_death(); what the detector looks at is complete once it is here.
void set_death_detector(DeathDetector detector) noexcept {
  g_process.death_detector.store(detector, std::memory_order_release);
}

std::string detected_death(int tenths) noexcept {
  // acquire: pairs with set_death_detector().
  const DeathDetector detector = g_process.death_detector.load(std::memory_order_acquire);
  for (int i = 0; detector && i < tenths * kPausesPerTenth; ++i) {
    if (auto death = detector()) return *death;
    nanosleep(&kPause, nullptr);
  }
  return {};
}

}  // namespace railshmem

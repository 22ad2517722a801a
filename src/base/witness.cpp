// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/witness.h"

#include <time.h>

#include <atomic>

namespace railshmem {
namespace {

std::atomic<DeathWitness> g_witness{nullptr};

constexpr timespec kPause{0, 10'000'000};
constexpr int kPausesPerTenth = 10;

}  // namespace

// release: pairs with witnessed_death(); what the witness looks at is complete once it is here.
void set_death_witness(DeathWitness witness) noexcept {
  g_witness.store(witness, std::memory_order_release);
}

std::string witnessed_death(int tenths) noexcept {
  // acquire: pairs with set_death_witness().
  const DeathWitness witness = g_witness.load(std::memory_order_acquire);
  for (int i = 0; witness && i < tenths * kPausesPerTenth; ++i) {
    if (auto death = witness()) return *death;
    nanosleep(&kPause, nullptr);
  }
  return {};
}

}  // namespace railshmem

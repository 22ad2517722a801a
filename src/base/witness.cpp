// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/witness.h"

#include <time.h>

#include <atomic>

namespace railshmem {
namespace {

std::atomic<DeathWitness> g_witness{nullptr};
std::atomic<LossWitness> g_loss_witness{nullptr};

constexpr timespec kPause{0, 10'000'000};
constexpr int kTries = 50;       // half a second; the job is lost, so a clear message is worth the wait
constexpr int kLossTries = 200;  // the PE is lost otherwise; a process with much memory takes long to end

}  // namespace

// release: pairs with witnessed_death(); what the witness looks at is complete once it is here.
void set_death_witness(DeathWitness witness) noexcept {
  g_witness.store(witness, std::memory_order_release);
}

std::string witnessed_death() noexcept {
  // acquire: pairs with set_death_witness().
  const DeathWitness witness = g_witness.load(std::memory_order_acquire);
  for (int i = 0; witness && i < kTries; ++i) {
    if (auto death = witness()) return *death;
    nanosleep(&kPause, nullptr);
  }
  return {};
}

// release: as set_death_witness().
void set_loss_witness(LossWitness witness) noexcept {
  g_loss_witness.store(witness, std::memory_order_release);
}

bool is_known_dead(int pe) noexcept {
  // acquire: pairs with set_loss_witness().
  const LossWitness witness = g_loss_witness.load(std::memory_order_acquire);
  return witness && witness(pe);
}

bool goes_on_without(int pe) noexcept {
  for (int i = 0; g_loss_witness.load(std::memory_order_relaxed) && i < kLossTries; ++i) {
    if (is_known_dead(pe)) return true;
    nanosleep(&kPause, nullptr);
  }
  return false;
}

}  // namespace railshmem

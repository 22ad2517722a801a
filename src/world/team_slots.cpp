// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/team_slots.h"

#include <algorithm>

namespace railshmem {

TeamSlots::TeamSlots(int slots, int first_free) : free_((static_cast<size_t>(slots) + 63) / 64) {
  for (int slot = first_free; slot < slots; ++slot) free_[static_cast<size_t>(slot) / 64] |= uint64_t{1} << slot % 64;
}

uint64_t TeamSlots::free_word(size_t word) const noexcept {
  const std::lock_guard lock(mutex_);
  return word < free_.size() ? free_[word] : 0;
}

void TeamSlots::take(int slot) noexcept {
  const std::lock_guard lock(mutex_);
  free_[static_cast<size_t>(slot) / 64] &= ~(uint64_t{1} << slot % 64);
}

void TeamSlots::give(int slot, uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  free_[static_cast<size_t>(slot) / 64] |= uint64_t{1} << slot % 64;
  highest_number_ = std::max(highest_number_, number);
}

uint64_t TeamSlots::highest_number() const noexcept {
  const std::lock_guard lock(mutex_);
  return highest_number_;
}

TeamSlots::Claim::Claim(TeamSlots& slots, Turn turn) : slots_(slots) {
  const std::lock_guard lock(slots_.mutex_);
  owns_ = !slots_.owned_ && *slots_.makers_.begin() == turn;
  slots_.owned_ |= owns_;
}

TeamSlots::Claim::~Claim() {
  const std::lock_guard lock(slots_.mutex_);
  if (owns_) slots_.owned_ = false;
}

TeamSlots::Maker::Maker(TeamSlots& slots, Turn turn) : slots_(slots), turn_(turn) {
  const std::lock_guard lock(slots_.mutex_);
  slots_.makers_.insert(turn_);
}

TeamSlots::Maker::~Maker() {
  const std::lock_guard lock(slots_.mutex_);
  slots_.makers_.erase(turn_);
}

}  // namespace railshmem

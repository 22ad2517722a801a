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

TeamSlots::Claim::Claim(TeamSlots& slots, int parent) : slots_(slots) {
  const std::lock_guard lock(slots_.mutex_);
  owns_ = !slots_.owned_ && *slots_.splitting_.begin() == parent;
  slots_.owned_ |= owns_;
}

TeamSlots::Claim::~Claim() {
  const std::lock_guard lock(slots_.mutex_);
  if (owns_) slots_.owned_ = false;
}

TeamSlots::Splitter::Splitter(TeamSlots& slots, int parent) : slots_(slots), parent_(parent) {
  const std::lock_guard lock(slots_.mutex_);
  slots_.splitting_.insert(parent_);
}

TeamSlots::Splitter::~Splitter() {
  const std::lock_guard lock(slots_.mutex_);
  slots_.splitting_.erase(parent_);
}

}  // namespace railshmem

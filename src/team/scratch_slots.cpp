// SPDX-License-Identifier: BSD-3-Clause
#include "src/team/scratch_slots.h"

#include <exception>

#include "src/base/log.h"

namespace railshmem {

uint64_t ScratchSlots::free() const noexcept {
  const std::lock_guard lock(mutex_);
  uint64_t bits = 0;
  for (size_t i = 0; i < taken_.size(); ++i) bits |= uint64_t{taken_[i] ? 0u : 1u} << i;
  return bits;
}

std::byte* ScratchSlots::take(size_t number) noexcept {
  const std::lock_guard lock(mutex_);
  if (taken_[number]) return nullptr;
  std::byte* const slot = first_ + number * nbytes_;
  try {
    if (back_) back_(slot);
  } catch (const std::exception& error) {
    log_info("no memory for collectives between nodes: %s", error.what());
    return nullptr;
  }
  taken_[number] = true;
  return slot;
}

void ScratchSlots::give_back(const std::byte* slot) noexcept {
  const std::lock_guard lock(mutex_);
  taken_[static_cast<size_t>(slot - first_) / nbytes_] = false;
}

}  // namespace railshmem

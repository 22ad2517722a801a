// SPDX-License-Identifier: BSD-3-Clause
#include "src/team/lots.h"

#include <exception>

#include "src/base/log.h"

namespace railshmem {

uint64_t Lots::free() const noexcept {
  const std::lock_guard lock(mutex_);
  uint64_t bits = 0;
  for (size_t i = 0; i < taken_.size(); ++i) bits |= uint64_t{taken_[i] ? 0u : 1u} << i;
  return bits;
}

std::byte* Lots::take(size_t number) noexcept {
  const std::lock_guard lock(mutex_);
  if (taken_[number]) return nullptr;
  std::byte* const lot = first_ + number * nbytes_;
  try {
    if (back_) back_(lot);
  } catch (const std::exception& error) {
    log_info("no memory for collectives between nodes: %s", error.what());
    return nullptr;
  }
  taken_[number] = true;
  return lot;
}

void Lots::give_back(const std::byte* lot) noexcept {
  const std::lock_guard lock(mutex_);
  taken_[static_cast<size_t>(lot - first_) / nbytes_] = false;
}

}  // namespace railshmem

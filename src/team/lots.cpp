// SPDX-License-Identifier: BSD-3-Clause
#include "src/team/lots.h"

#include <exception>

#include "src/base/log.h"

namespace railshmem {

std::byte* Lots::take(size_t number) noexcept {
  const std::lock_guard lock(mutex_);
  const size_t i = number % taken_.size();
  if (taken_[i]) return nullptr;
  std::byte* const lot = first_ + i * nbytes_;
  try {
    if (back_) back_(lot);
  } catch (const std::exception& error) {
    log_info("no memory for collectives between nodes: %s", error.what());
    return nullptr;
  }
  taken_[i] = true;
  return lot;
}

void Lots::give_back(const std::byte* lot) noexcept {
  const std::lock_guard lock(mutex_);
  taken_[static_cast<size_t>(lot - first_) / nbytes_] = false;
}

}  // namespace railshmem

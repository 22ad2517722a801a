// SPDX-License-Identifier: BSD-3-Clause
#include "src/team/landing_pool.h"

#include <exception>

#include "src/base/log.h"

namespace railshmem {

std::byte* LandingPool::take() noexcept {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return nullptr;
  std::byte* const lot = free_.back();
  try {
    if (back_) back_(lot);
  } catch (const std::exception& error) {
    log_info("no memory for chunks of other nodes: %s", error.what());
    return nullptr;
  }
  free_.pop_back();
  return lot;
}

}  // namespace railshmem

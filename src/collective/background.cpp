// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/background.h"

#include <exception>

#include "src/base/log.h"

namespace railshmem {

DeviceQueue* queue_of(Team& team, const char* function) noexcept {
  if (!team.state.device) return nullptr;
  try {
    if (!team.queue) team.queue = team.state.device->make_queue();
  } catch (const std::exception& error) {
    die("%s: there are no copies in the background: %s", function, error.what());
  }
  return team.queue.get();
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// A rest of a proxy thread, as the statistics see it.
#pragma once

#include <cstdint>
#include <span>

#include "src/observe/observer.h"
#include "src/proxy/sleeper.h"

namespace railshmem {

/// As Sleeper::sleep(). `observer` null: nobody records; `what` is a literal.
inline bool doze(Sleeper& sleeper, std::span<const int> fds, uint64_t limit_ns, const char* what,
                 observe::Observer* observer) noexcept {
  if (!observer) return sleeper.sleep(fds, limit_ns);
  const uint64_t began = observer->ticks();
  const bool traffic = sleeper.sleep(fds, limit_ns);
  observer->did(what, began, 0, -1);
  observer->count(observe::Engine::sleeps, 1);
  observer->count(observe::Engine::slept_ticks, observer->ticks() - began);
  return traffic;
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Rests and steps of proxy threads, as the statistics see them.
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

/// A step that `move_on` makes, which tells whether anything moved. `observer` null: nobody records.
template <class MoveOn>
bool recorded_step(observe::Observer* observer, MoveOn&& move_on) noexcept {
  if (!observer) [[likely]]
    return move_on();
  const uint64_t began = observer->ticks();
  const bool moved = move_on();
  if (moved) observer->did("progress", began, 0, -1);
  return moved;
}

}  // namespace railshmem

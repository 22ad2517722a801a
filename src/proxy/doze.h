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

/// Records one step of a thread, from here to notify(). `observer` null: nobody records.
class StepRecord {
 public:
  explicit StepRecord(observe::Observer* observer) noexcept
      : observer_(observer), began_(observer ? observer->ticks() : 0) {}
  /// The step is over; `moved`: something moved.
  void notify(bool moved) const noexcept {
    if (observer_ && moved) [[unlikely]]
      observer_->did("progress", began_, 0, -1);
  }

 private:
  observe::Observer* const observer_;
  const uint64_t began_;
};

}  // namespace railshmem

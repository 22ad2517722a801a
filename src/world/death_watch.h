// SPDX-License-Identifier: BSD-3-Clause
// Ends a PE that goes on long after a peer has died.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "src/rma/liveness.h"

namespace railshmem {

/// Waits notice dead peers themselves, unless a thread never returns from the network's library: a peer that is killed
/// may take a lock with it that the library shares between processes (shm). Nothing but another thread can end that.
class DeathWatch {
 public:
  /// `patience_s`: how long after a peer's death this PE may go on.
  DeathWatch(Liveness& liveness, int pe, double patience_s);
  DeathWatch(const DeathWatch&) = delete;  // the thread holds its address
  ~DeathWatch();

 private:
  void run() noexcept;

  Liveness& liveness_;
  const int pe_;
  const double patience_s_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Ends a PE that goes on although the job has ended, or long after a peer has died. Where PEs go on without a dead
// peer, tells the network of it.
#pragma once

#include <thread>
#include <vector>

#include "src/base/unique.h"
#include "src/plugin/network.h"
#include "src/rma/liveness.h"

namespace railshmem {

/// Waits notice both themselves. A PE that computes does not, nor does a thread that never returns from the network's
/// library: a peer that is killed may take a lock with it that the library shares between processes (shm). So a thread
/// listens to the bootstrap. It sleeps until there is news. With SHMEM_SURVIVE a kernel waits for what it has put, and
/// the network may never hear of an operation to a dead peer again, so the thread looks often.
class JobWatch {
 public:
  /// `patience_s`: how long after a peer's death this PE may go on; 0: without limit. `survivor`: the network that
  /// hears of dead peers; may be null. Throws Error.
  JobWatch(Bootstrap& bootstrap, Liveness& liveness, double patience_s, Network* survivor = nullptr);
  JobWatch(const JobWatch&) = delete;  // the thread holds its address
  ~JobWatch();

 private:
  void run() noexcept;
  void notify_losses();

  Bootstrap& bootstrap_;
  Liveness& liveness_;
  const double patience_s_;
  Network* const survivor_;
  std::vector<int> lost_;  ///< of which the network knows
  UniqueFd stop_;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace railshmem

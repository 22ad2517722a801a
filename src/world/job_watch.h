// SPDX-License-Identifier: BSD-3-Clause
// Ends a PE that goes on although the job has ended, or long after a peer has died.
#pragma once

#include <thread>

#include "src/base/unique.h"
#include "src/rma/liveness.h"

namespace railshmem {

/// Waits notice both themselves. A PE that computes does not, nor does a thread that never returns from the network's
/// library: a peer that is killed may take a lock with it that the library shares between processes (shm). So a thread
/// listens to the bootstrap. It sleeps until there is news.
class JobWatch {
 public:
  /// `patience_s`: how long after a peer's death this PE may go on; 0: without limit. Throws Error.
  JobWatch(Bootstrap& bootstrap, Liveness& liveness, double patience_s);
  JobWatch(const JobWatch&) = delete;  // the thread holds its address
  ~JobWatch();

 private:
  void run() noexcept;

  Bootstrap& bootstrap_;
  Liveness& liveness_;
  const double patience_s_;
  UniqueFd stop_;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace railshmem

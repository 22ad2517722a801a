// SPDX-License-Identifier: BSD-3-Clause
// Tells the network of peers that have died, in a job whose PEs go on without them.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "src/plugin/network.h"
#include "src/rma/liveness.h"

namespace railshmem {

/// The counterpart of JobWatch with SHMEM_SURVIVE. A kernel waits for what it has put, and the network may never hear
/// of an operation to a dead peer again.
class LossWatch {
 public:
  LossWatch(Liveness& liveness, Network& network, int pe);
  LossWatch(const LossWatch&) = delete;  // the thread holds its address
  ~LossWatch();

 private:
  void run() noexcept;
  void look();

  Liveness& liveness_;
  Network& network_;
  const int pe_;
  std::vector<int> lost_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace railshmem

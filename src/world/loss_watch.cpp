// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/loss_watch.h"

#include <algorithm>
#include <chrono>

#include "src/base/job_end.h"
#include "src/base/log.h"
#include "src/base/thread.h"

namespace railshmem {
namespace {

constexpr std::chrono::milliseconds kPeriod{20};  // a look is a system call for each peer of this host

}  // namespace

LossWatch::LossWatch(Liveness& liveness, Network& network, int pe)
    : liveness_(liveness),
      network_(network),
      pe_(pe),
      thread_(start_thread("the watch over lost peers", [this] { run(); })) {}

LossWatch::~LossWatch() {
  {
    const std::lock_guard held(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void LossWatch::run() noexcept {
  enter_library_thread("railshmem-loss", pe_);
  std::unique_lock held(mutex_);
  while (!wake_.wait_for(held, kPeriod, [this] { return stop_; })) look();
}

void LossWatch::look() {
  for (const int pe : liveness_.dead_pes()) {
    if (std::find(lost_.begin(), lost_.end(), pe) != lost_.end()) continue;
    lost_.push_back(pe);
    log_warn("PE %d has died; this PE goes on without it (SHMEM_SURVIVE), and what kernels put there is dropped", pe);
    network_.lose_peer(pe);
  }
}

}  // namespace railshmem

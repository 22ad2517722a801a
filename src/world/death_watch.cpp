// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/death_watch.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "src/base/log.h"

namespace railshmem {

DeathWatch::DeathWatch(Liveness& liveness, int pe, double patience_s)
    : liveness_(liveness), pe_(pe), patience_s_(patience_s), thread_([this] { run(); }) {}

DeathWatch::~DeathWatch() {
  {
    const std::lock_guard held(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void DeathWatch::run() noexcept {
  pthread_setname_np(pthread_self(), "railshmem-watch");
  set_log_pe(pe_);
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> patience(patience_s_);
  const auto period = std::min<std::chrono::duration<double>>(std::chrono::seconds(1), patience / 4);
  Clock::time_point dead_since{};
  std::unique_lock held(mutex_);
  while (!wake_.wait_for(held, period, [this] { return stop_; })) {
    const auto death = liveness_.dead_peer();
    if (!death) continue;
    const auto now = Clock::now();
    if (dead_since == Clock::time_point{}) dead_since = now;
    if (now - dead_since >= patience)
      die("%s, and %.1f s later this PE still runs: it computes on, or its network library hangs (a larger "
          "SHMEM_TIMEOUT waits longer); see that PE's own output",
          death->c_str(), patience_s_);
  }
}

}  // namespace railshmem

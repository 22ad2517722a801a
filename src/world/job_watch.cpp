// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/job_watch.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/thread.h"

namespace railshmem {
namespace {

/// The end of a process of this host is no news of the bootstrap's: it is looked for.
constexpr double kLongestPeriod = 1;
constexpr double kSurvivorsPeriod = 0.02;  // a look is a system call for each peer of this host

bool is_readable(const UniqueFd& fd) noexcept {
  pollfd one{fd.get(), POLLIN, 0};
  return poll(&one, 1, 0) > 0;
}

}  // namespace

JobWatch::JobWatch(Bootstrap& bootstrap, Liveness& liveness, double patience_s, Network* survivor)
    : bootstrap_(bootstrap),
      liveness_(liveness),
      patience_s_(patience_s),
      survivor_(survivor),
      stop_(UniqueFd(eventfd(0, EFD_CLOEXEC))) {
  check_errno(static_cast<bool>(stop_), "eventfd");
  thread_ = start_thread({"railshmem-watch", "the watch over the job"}, bootstrap_.pe(), [this] { run(); });
}

JobWatch::~JobWatch() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void JobWatch::run() noexcept {
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> patience(patience_s_);
  double period = survivor_ ? kSurvivorsPeriod : kLongestPeriod;
  if (patience_s_ > 0) period = std::min(period, patience_s_ / 4);
  Clock::time_point dead_since{};
  while (!is_readable(stop_)) {
    bootstrap_.await_news(stop_.get(), static_cast<int>(std::ceil(period * 1e3)));
    liveness_.heed_end();
    if (survivor_) notify_losses();
    if (patience_s_ <= 0) continue;
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

void JobWatch::notify_losses() {
  for (const int pe : liveness_.dead_pes()) {
    if (std::find(lost_.begin(), lost_.end(), pe) != lost_.end()) continue;
    lost_.push_back(pe);
    log_warn("PE %d has died; this PE goes on without it (SHMEM_SURVIVE), and what kernels put there is dropped", pe);
    survivor_->lose_peer(pe);
  }
}

}  // namespace railshmem

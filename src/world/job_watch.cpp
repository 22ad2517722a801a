// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/job_watch.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/signal_actions.h"
#include "src/base/thread.h"

namespace railshmem {
namespace {

/// The end of a process of this host is no news of the bootstrap's: it is looked for.
constexpr double kLongestPeriod = 1;

bool is_readable(const UniqueFd& fd) noexcept {
  pollfd one{fd.get(), POLLIN, 0};
  return poll(&one, 1, 0) > 0;
}

}  // namespace

JobWatch::JobWatch(Bootstrap& bootstrap, Liveness& liveness, double patience_s)
    : bootstrap_(bootstrap), liveness_(liveness), patience_s_(patience_s), stop_(UniqueFd(eventfd(0, EFD_CLOEXEC))) {
  check_errno(static_cast<bool>(stop_), "eventfd");
  thread_ = start_thread("the watch over the job", [this] { run(); });
}

JobWatch::~JobWatch() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void JobWatch::run() noexcept {
  enter_library_thread("railshmem-watch", bootstrap_.pe());
  block_signals();
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> patience(patience_s_);
  const double period = patience_s_ > 0 ? std::min(kLongestPeriod, patience_s_ / 4) : kLongestPeriod;
  Clock::time_point dead_since{};
  while (!is_readable(stop_)) {
    bootstrap_.await_news(stop_.get(), static_cast<int>(std::ceil(period * 1e3)));
    liveness_.heed_end();
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

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/waiter.h"

#include <sched.h>
#include <time.h>

#include <algorithm>

#include "src/base/log.h"
#include "src/rma/liveness.h"

namespace railshmem {
namespace {

constexpr uint64_t kLookEveryNs = 20'000'000;  // dead peers are noticed within 20 ms; a look costs a few microseconds

}  // namespace

void Waiter::slow_turn() noexcept {
  const uint64_t now = now_ns();
  if (started_ns_ == 0) {
    started_ns_ = now;
    next_look_ns_ = now + kLookEveryNs;
  }
  if (now >= next_look_ns_) look_around(now);
  const uint64_t waited = now - started_ns_;
  if (waited < (helping_ ? state_.spin.helping_ns : state_.spin.yield_ns)) {
    sched_yield();
    return;
  }
  helping_ = false;
  const timespec nap{0, static_cast<long>(std::min(waited / state_.spin.nap_share, state_.spin.longest_nap_ns))};
  nanosleep(&nap, nullptr);
}

void Waiter::look_around(uint64_t now) noexcept {
  next_look_ns_ = now + kLookEveryNs;
  const double seconds = static_cast<double>(now - started_ns_) * 1e-9;
  if (state_.liveness)
    if (const auto death = state_.liveness->dead_peer())
      die("%s: %s, so this wait cannot end; see that PE's own output", what_.function, death->c_str());
  char whom[32] = "any PE";
  if (what_.pe >= 0) snprintf(whom, sizeof whom, "PE %d", what_.pe);
  if (state_.spin.wait_timeout_s > 0 && seconds > state_.spin.wait_timeout_s)
    die("%s has waited %.1f s for %s; raise SHMEM_WAIT_TIMEOUT (0 = no limit) if that is intended", what_.function,
        seconds, whom);
  if (!said_ && state_.spin.timeout_s > 0 && seconds > state_.spin.timeout_s) {
    said_ = true;
    log_warn("%s has waited %.1f s for %s, which is alive", what_.function, seconds, whom);
  }
}

}  // namespace railshmem

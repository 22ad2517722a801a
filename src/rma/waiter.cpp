// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/waiter.h"

#include <time.h>

#include <algorithm>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/pe_list.h"
#include "src/base/yield.h"
#include "src/rma/liveness.h"

namespace railshmem {
namespace {

constexpr uint64_t kLookEveryNs = 20'000'000;  // dead peers are noticed within 20 ms; a look costs a few microseconds

}  // namespace

/// Notices what must end the wait. Returns how long it has lasted.
uint64_t Waiter::look() noexcept {
  const uint64_t now = now_ns();
  if (started_ns_ == 0) {
    started_ns_ = now;
    next_look_ns_ = now + kLookEveryNs;
  }
  if (now >= next_look_ns_) look_around(now);
  return now - started_ns_;
}

void Waiter::slow_turn() noexcept {
  if (state_.ended.load(std::memory_order_relaxed)) [[unlikely]]
    die("%s was still waiting for %s when another thread of this PE finalized the library; every call must return "
        "before shmem_finalize is called",
        what_.function, what_.pe == state_.me ? "another thread" : "other PEs");
  const uint64_t waited = look();
  if (waited < (helping_ ? state_.spin.helping_ns : state_.spin.yield_ns)) {
    yield_cpu(waited);
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
  if (state_.spin.wait_timeout_s > 0 && seconds > state_.spin.wait_timeout_s)
    die("%s has waited %.1f s for %s; raise SHMEM_WAIT_TIMEOUT (0 = no limit) if that is intended", what_.function,
        seconds, whom().c_str());
  if (!said_ && state_.spin.timeout_s > 0 && seconds > state_.spin.timeout_s) {
    said_ = true;
    log_warn("%s has waited %.1f s for %s", what_.function, seconds, whom().c_str());
  }
}

/// The PEs that are late, what state they are in, and what to try.
std::string Waiter::whom() const {
  std::vector<int> late;
  if (what_.absent) late = what_.absent(what_.members);
  if (late.empty() && what_.pe == state_.me) return "another thread of this PE";
  const bool seen = !late.empty();
  if (!seen && what_.pe >= 0) late = {what_.pe};
  std::string out = late.empty() ? "an update by another PE" : pe_list(late);
  const std::string stopped = state_.liveness ? state_.liveness->stopped_peers() : "";
  if (!stopped.empty())
    out += "; " + stopped;
  else
    out += late.size() == 1 ? ", which is alive" : late.empty() ? "; none is known to have ended" : ", which are alive";
  // Over the network a PE hears from few others, and those may wait themselves.
  const auto& heap = state_.segment[static_cast<int>(SegmentId::heap)];
  if (what_.collective && !seen && what_.pe >= 0 &&
      static_cast<unsigned>(state_.slot(what_.pe) - heap.first_slot) >= static_cast<unsigned>(heap.slots))
    out += text("%s PE %d may itself wait for another", stopped.empty() ? ", but" : ";", what_.pe);
  if (what_.collective && !state_.calls_compared)
    out += "; if PEs may have made different calls, SHMEM_CHECK=1 finds them";
  return out;
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// A further proxy thread: it drives its share of the kernels' rings, and sleeps while there are none.
#pragma once

#include <sched.h>

#include <string>

#include "src/base/cpu.h"
#include "src/proxy/doze.h"
#include "src/proxy/kernel_pace.h"
#include "src/proxy/proxy_thread.h"
#include "src/proxy/ring_side.h"
#include "src/proxy/sleeper.h"

namespace railshmem {

template <Rail R>
class RingLoop {
 public:
  /// Proxy thread number `number`, from 1.
  RingLoop(RingSide<R>& side, size_t number, const LoopConfig& config)
      : side_(side),
        config_(config),
        pace_(config.kernel_spin_ns, config.kernel_nap_ns, config.oversubscribed),
        // 15 letters are all that a name may have
        thread_("railshmem-prox" + std::to_string(number), name_of(port_of_thread(number)), sleeper_, config,
                [this] { run(); }) {}

  ProxyThread& thread() noexcept { return thread_; }

 private:
  static constexpr uint64_t kSleepNs = 100'000'000;  // without rings; news of peers' rails may wait so long
  static constexpr uint32_t kTurnsPerClock = 64;     // a clock and a yield cost more than a look at an empty queue

  void run() noexcept {
    uint64_t idle_since = 0;
    while (thread_.goes_on()) {
      if (side_.try_step()) {
        idle_since = 0;
        continue;
      }
      if (++idle_turns_ % kTurnsPerClock != 0) continue;
      const uint64_t now = now_ns();
      if (idle_since == 0) idle_since = now;
      wait(now, now - idle_since);
    }
  }

  void wait(uint64_t now, uint64_t idle_ns) noexcept {
    if (!side_.wanted()) {
      doze(sleeper_, {}, kSleepNs, "sleep", config_.observer);
    } else if (idle_ns < config_.spin_ns) {
      if (config_.oversubscribed) sched_yield();
    } else if (!pace_.should_nap(now, side_.moves()) || !side_.at_rest()) {
      sched_yield();
    } else {
      doze(sleeper_, {}, pace_.nap_ns(), "nap", config_.observer);
      idle_turns_ = kTurnsPerClock - KernelPace::kTurnsPerNap;
    }
  }

  RingSide<R>& side_;
  const LoopConfig config_;
  KernelPace pace_;
  Sleeper sleeper_;
  uint32_t idle_turns_ = 0;
  ProxyThread thread_;  // last: it uses everything above
};

}  // namespace railshmem

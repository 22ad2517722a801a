// SPDX-License-Identifier: BSD-3-Clause
// A proxy thread: when it steps and sleeps. The first thread also stays away from helpers and visits the host endpoint.
#pragma once

#include <sched.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/base/cpu.h"
#include "src/proxy/doze.h"
#include "src/proxy/host_side.h"
#include "src/proxy/kernel_pace.h"
#include "src/proxy/proxy_side.h"
#include "src/proxy/proxy_thread.h"
#include "src/proxy/sleeper.h"

namespace railshmem {

template <Rail R>
class ProxyLoop {
 public:
  /// Proxy thread number `number`. `host` is null for all but the first.
  ProxyLoop(ProxySide<R>& proxy, HostSide<R>* host, Sleeper& sleeper, size_t number, const LoopConfig& config)
      : proxy_(proxy),
        host_(host),
        sleeper_(sleeper),
        config_(config),
        base_spin_ns_(proxy.needs_doorbells() ? std::max(config.spin_ns, kDoorbellSpinNs) : config.spin_ns),
        helper_nap_ns_(
            1000 * (config.oversubscribed ? config.tuning.helper_nap_oversubscribed_us : config.tuning.helper_nap_us)),
        pace_(config.kernel_spin_ns, config.kernel_nap_ns, config.oversubscribed),
        thread_(name_of_thread(number), name_of(port_of_thread(number)), sleeper, config, [this] { run(); }) {}

  ProxyThread& thread() noexcept { return thread_; }

 private:
  static constexpr uint64_t kLongestSleepNs = 100000000;  // 100 ms: costs nothing, and heals a provider's lost wake-up
  static constexpr uint64_t kFirstNapNs = 50000;          // then doubled while nothing happens
  // A nap costs up to 17 us of CPU (measured on a virtual machine): 3.4 % of a core at the default of 500 us. So after
  // 100 ms without work naps grow further, which keeps an idle PE below 1 %.
  static constexpr uint64_t kLongIdleNs = 100000000;
  static constexpr uint64_t kDeepNap = 4;
  static constexpr uint64_t kDoorbellSpinNs = 500000;  // longer than PeerDoorbell pauses between messages
  static constexpr uint32_t kTurnsPerClock = 64;       // a clock and a yield cost more than a look at an empty queue
  static constexpr uint64_t kSoonNs = 200000;          // a sleep this short was not worth its cost
  static constexpr uint64_t kLongestSpinNs = 2000000;  // sleeping once in 2 ms costs below 1 %
  static constexpr uint64_t kVisitPauseNs = 50000;     // between fruitless visits, each of which costs a membarrier

  /// A name may have 15 letters.
  static std::string name_of_thread(size_t number) {
    return number == 0 ? "railshmem-proxy" : "railshmem-prox" + std::to_string(number);
  }

  void run() noexcept {
    uint64_t idle_since = 0;
    while (thread_.goes_on()) {
      if (const uint64_t helps = proxy_.helps(); helps != helps_seen_) {
        helps_seen_ = helps;
        doze({}, helper_nap_ns_, "stay away");
        continue;
      }
      if (proxy_.try_step(ProxySide<R>::Stepper::proxy_thread) | visit_host()) {
        idle_since = 0;
        nap_ns_ = kFirstNapNs;
        continue;
      }
      if (++idle_turns_ % kTurnsPerClock != 0) continue;
      const uint64_t now = now_ns();
      if (idle_since == 0) idle_since = now;
      if (proxy_.serves_kernels()) {
        wait_for_kernels(now, idle_since);
      } else if (now - idle_since >= spin_ns_) {
        if (rest(now - idle_since)) idle_since = 0;
      } else if (config_.oversubscribed) {
        sched_yield();
      }
    }
  }

  /// Peers' traffic is found just so.
  void wait_for_kernels(uint64_t now, uint64_t idle_since) noexcept {
    const bool may_nap = pace_.should_nap(now, proxy_.kernel_moves());
    if (now - idle_since < spin_ns_) {
      if (config_.oversubscribed) sched_yield();
    } else if (!may_nap) {
      sched_yield();
    } else if (proxy_.at_rest()) {
      doze({}, pace_.nap_ns(), "nap");
      idle_turns_ = kTurnsPerClock - KernelPace::kTurnsPerNap;
    }
  }

  /// Drives the host's endpoint when it has work and its threads were silent: deferred signals and long transfers move
  /// while the application computes.
  bool visit_host() noexcept {
    if (!host_has_work()) return false;
    const uint64_t now = now_ns();
    if (const uint64_t visits = host_->port().visits(); visits != visits_seen_) {
      visits_seen_ = visits;
      silent_since_ = now;
    }
    if (now - silent_since_ < config_.tuning.host_silence_us * 1000 || now < next_visit_) return false;
    const bool moved = host_->poll_as_proxy();
    next_visit_ = moved ? 0 : now + kVisitPauseNs;
    return moved;
  }

  /// True when traffic ended the rest. Plain writes of peers leave no event, so a provider's descriptor that is
  /// readable soon after the last look is the only sign of them: then the thread looks longer before it rests again.
  bool rest(uint64_t idle_ns) noexcept {
    const uint64_t began = now_ns();
    const auto depth = proxy_.rest(fds_, sleeper_.fd());
    const bool traffic = depth == ProxySide<R>::Rest::none || sleep(depth, idle_ns);
    proxy_.wake_up();
    const bool soon = traffic && now_ns() - began < kSoonNs;
    spin_ns_ = soon ? std::min(2 * spin_ns_, std::max(kLongestSpinNs, base_spin_ns_)) : base_spin_ns_;
    return traffic;
  }

  bool sleep(typename ProxySide<R>::Rest depth, uint64_t idle_ns) noexcept {
    if (depth == ProxySide<R>::Rest::nap || host_has_work()) {
      const bool deep = depth == ProxySide<R>::Rest::nap && !host_has_work() && idle_ns > kLongIdleNs;
      return doze(fds_, next_nap(deep ? kDeepNap * config_.nap_ns : config_.nap_ns), "nap");
    }
    if (host_ == nullptr) return doze(fds_, kLongestSleepNs, "sleep");
    sleeper_.announce();
    host_->port().fence().heavy();  // pairs with light() in HostSide::wake_proxy(): we see its work, or it our sleep
    const bool traffic = !host_->urgent() && doze(fds_, kLongestSleepNs, "sleep");
    sleeper_.retract();
    return traffic;
  }

  bool host_has_work() const noexcept { return host_ != nullptr && host_->pending() > 0; }

  bool doze(std::span<const int> fds, uint64_t limit_ns, const char* what) noexcept {
    return railshmem::doze(sleeper_, fds, limit_ns, what, config_.observer);
  }

  /// Longer and longer while nothing happens, so that an idle proxy costs little.
  uint64_t next_nap(uint64_t longest) noexcept {
    const uint64_t nap = std::min(nap_ns_, longest);
    nap_ns_ = std::min(2 * nap_ns_, longest);
    return nap;
  }

  ProxySide<R>& proxy_;
  HostSide<R>* const host_;  ///< null: another thread visits it
  Sleeper& sleeper_;
  const LoopConfig config_;
  const uint64_t base_spin_ns_;  ///< without work before it rests
  const uint64_t helper_nap_ns_;
  KernelPace pace_;
  uint64_t helps_seen_ = 0;
  uint64_t visits_seen_ = 0;
  uint64_t silent_since_ = 0;
  uint64_t next_visit_ = 0;
  uint64_t nap_ns_ = kFirstNapNs;
  uint32_t idle_turns_ = 0;
  uint64_t spin_ns_ = base_spin_ns_;
  std::vector<int> fds_;
  ProxyThread thread_;  // last: it uses everything above
};

}  // namespace railshmem

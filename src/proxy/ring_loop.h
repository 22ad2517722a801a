// SPDX-License-Identifier: BSD-3-Clause
// A further proxy thread: it drives its share of the kernels' rings, and sleeps while there are none.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "src/base/cpu.h"
#include "src/base/log.h"
#include "src/proxy/doze.h"
#include "src/proxy/errands.h"
#include "src/proxy/kernel_pace.h"
#include "src/proxy/loop_config.h"
#include "src/proxy/ring_side.h"
#include "src/proxy/sleeper.h"

namespace railshmem {

template <Rail R>
class RingLoop {
 public:
  /// Proxy thread number `number`, from 1.
  RingLoop(RingSide<R>& side, size_t number, const LoopConfig& config)
      : side_(side),
        number_(number),
        config_(config),
        pace_(config.kernel_spin_ns, config.kernel_nap_ns, config.oversubscribed),
        thread_([this] { run(); }) {}
  RingLoop(const RingLoop&) = delete;  // the thread holds its address

  ~RingLoop() {
    // release: pairs with the acquire in run(); what the stopping thread did before is visible to the last pass.
    stop_.store(true, std::memory_order_release);
    sleeper_.wake();
    thread_.join();
  }

  /// As ProxyLoop::run_there().
  void run_there(const std::function<void()>& task) {
    errands_.ask(task, [this] { sleeper_.wake(); });
  }
  /// Once it has rings; also ends its sleep.
  void expect_kernels() { run_there(&KernelPace::nap_precisely); }

 private:
  static constexpr uint64_t kSleepNs = 100'000'000;  // without rings; news of peers' rails may wait so long
  static constexpr uint32_t kTurnsPerClock = 64;     // a clock and a yield cost more than a look at an empty queue

  void run() noexcept {
    const std::string name = "railshmem-prox" + std::to_string(number_);  // 15 letters are all that a name may have
    pthread_setname_np(pthread_self(), name.c_str());
    set_log_pe(config_.pe);
    if (config_.observer) config_.observer->name_thread(name_of(port_of_thread(number_)));
    uint64_t idle_since = 0;
    while (!stop_.load(std::memory_order_acquire)) {
      errands_.run();
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
  const size_t number_;
  const LoopConfig config_;
  KernelPace pace_;
  Sleeper sleeper_;
  uint32_t idle_turns_ = 0;
  Errands errands_;
  std::atomic<bool> stop_{false};
  std::thread thread_;  // last: it uses everything above
};

}  // namespace railshmem

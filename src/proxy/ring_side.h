// SPDX-License-Identifier: BSD-3-Clause
// The endpoints of a further proxy thread: they carry the commands of the kernels' rings that it drives, and nothing
// arrives at them but completions and answers.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "src/base/log.h"
#include "src/observe/observer.h"
#include "src/proxy/channel_drain.h"
#include "src/proxy/doze.h"
#include "src/proxy/source/initiator.h"
#include "src/proxy/source/nudger.h"
#include "src/proxy/try_lock.h"

namespace railshmem {

/// Stepped by its thread only; others exclude it for a moment with alone().
template <Rail R>
class RingSide {
 public:
  /// `nudges`: nothing wakes a target where data arrives.
  RingSide(std::span<R> rails, const InitiatorConfig& config, bool nudges, observe::Observer* observer = nullptr)
      : npes_(config.npes),
        nudges_(nudges),
        observer_(observer),
        initiator_(rails, config),
        nudger_(initiator_, true) {}

  /// alone(), or before the thread runs.
  void serve(std::span<Channel* const> channels) {
    for (Channel* channel : channels)
      drains_.push_back(std::make_unique<ChannelDrain<R>>(*channel, initiator_, npes_, nudges_ ? &nudger_ : nullptr));
    // relaxed: a hint; the drains themselves are guarded by the lock.
    serves_.store(!drains_.empty(), std::memory_order_relaxed);
  }

  /// One bounded step, unless somebody is alone(). True when something moved.
  bool try_step() noexcept {
    if (!lock_.try_lock()) return false;
    const StepRecord record(observer_);
    const bool moved = initiator_.poll([this](size_t r, const std::byte*, size_t nbytes) {
      die("a request of %zu bytes arrived at an endpoint that executes none, over %s; do all PEs run the same build?",
          nbytes, initiator_.rails()[r].name().c_str());
    });
    bool drained = false;
    for (auto& drain : drains_) drained |= drain->step();
    moves_ += drained;
    record.tell(moved | drained);
    lock_.unlock();
    return moved | drained;
  }

  /// Runs `body`, which may throw, while the thread does not use the rails. Steps are bounded, so the wait is short.
  template <class Body>
  void alone(Body&& body) {
    while (!lock_.try_lock()) sched_yield();
    const std::lock_guard<TryLock> held(lock_, std::adopt_lock);
    body();
  }

  // ---- for its thread ----------------------------------------------------------------------------------------------
  /// It has rings, or something to bring to an end.
  bool wanted() const noexcept {
    return serves_.load(std::memory_order_relaxed) || initiator_.outstanding() > 0 || initiator_.failover().has_news();
  }
  /// Nothing that began here waits for the next step.
  bool at_rest() noexcept {
    if (!lock_.try_lock()) return true;  // somebody is alone(): what came meanwhile is seen after the rest
    const bool rests = std::none_of(drains_.begin(), drains_.end(), [](const auto& drain) { return drain->holds(); });
    lock_.unlock();
    return rests;
  }
  /// Grows when commands come.
  uint64_t moves() const noexcept { return moves_; }

  RailSet<R>& rails() noexcept { return initiator_.rails(); }
  void ignore_failures() noexcept { initiator_.ignore_failures(); }

 private:
  const int npes_;
  const bool nudges_;
  observe::Observer* const observer_;  ///< null: nobody records
  TryLock lock_;
  Initiator<R> initiator_;
  Nudger<R> nudger_;
  std::vector<std::unique_ptr<ChannelDrain<R>>> drains_;
  std::atomic<bool> serves_{false};
  uint64_t moves_ = 0;
};

}  // namespace railshmem

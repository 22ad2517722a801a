// SPDX-License-Identifier: BSD-3-Clause
// The endpoints of the first proxy thread. They serve peers' requests, this PE's channels of host threads, and a share
// of the kernels' channels. The proxy thread steps them, or any host thread that waits.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "src/observe/observer.h"
#include "src/proxy/channel_drain.h"
#include "src/proxy/doze.h"
#include "src/proxy/flush/flush_gate.h"
#include "src/proxy/source/initiator.h"
#include "src/proxy/target/responder.h"
#include "src/proxy/try_lock.h"

namespace railshmem {

/// Who pushes into a channel. Host threads ring a doorbell when the proxy sleeps, kernels cannot.
enum class Pushers : uint8_t { host_threads, kernels };

template <Rail R>
class ProxySide {
 public:
  ProxySide(std::span<R> rails, std::span<const Segment> segments, const InitiatorConfig& config,
            observe::Observer* observer = nullptr, const FlushPlan& flush = {}, StagingPart* target_staging = nullptr)
      : npes_(config.npes),
        observer_(observer),
        initiator_(rails, config),
        responder_(initiator_, segments, config.npes, observer, target_staging),
        gate_(initiator_, responder_, flush) {}

  /// Adds channels to serve. Called before the proxy thread runs, or inside alone().
  void serve(std::span<Channel* const> channels, Pushers pushers) {
    Nudger<R>* const nudger = traffic_wakes() ? nullptr : &nudger_;
    auto& drains = pushers == Pushers::kernels ? kernel_drains_ : drains_;
    for (Channel* channel : channels)
      drains.push_back(std::make_unique<ChannelDrain<R>>(*channel, initiator_, npes_, nudger));
    // relaxed: a hint; the drains themselves are guarded by the lock.
    serves_kernels_.store(!kernel_drains_.empty(), std::memory_order_relaxed);
  }

  /// Sets how requests are held back from now on. Called inside alone().
  void use_flush(const FlushPlan& plan) { gate_.use(plan); }

  enum class Stepper : uint8_t { proxy_thread, waiting_host };
  /// One bounded step, unless another thread is at it. A host thread that waits leaves a sign by which the proxy thread
  /// stays away. True when something moved.
  bool try_step(Stepper stepper) noexcept {
    if (!lock_.try_lock()) return false;
    // relaxed: a hint; written under the lock, so no increment is lost
    if (stepper == Stepper::waiting_host) helps_.store(helps() + 1, std::memory_order_relaxed);
    const StepRecord record(observer_);
    bool moved =
        initiator_.poll([this](size_t r, const std::byte* bytes, size_t nbytes) { gate_.arrive(r, bytes, nbytes); });
    if (gate_.holds()) moved |= gate_.step();
    if (responder_.owes_answers()) moved |= responder_.flush(gate_.counts());
    for (auto& drain : drains_) moved |= drain->step();
    bool kernels_moved = false;
    for (auto& drain : kernel_drains_) kernels_moved |= drain->step();
    // relaxed: a hint; written under the lock, so no increment is lost
    if (kernels_moved) kernel_moves_.store(kernel_moves() + 1, std::memory_order_relaxed);
    moved |= kernels_moved;
    record.tell(moved);
    lock_.unlock();
    return moved;
  }
  /// Runs `body`, which may throw, while no other thread uses the rails. Steps are bounded, so the wait is short.
  template <class Body>
  void alone(Body&& body) {
    while (!lock_.try_lock()) sched_yield();
    const std::unique_ptr<TryLock, Unlock> held(&lock_);
    body();
  }

  /// True when arriving traffic wakes a sleeping proxy thread.
  bool traffic_wakes() noexcept {
    RailSet<R>& rails = initiator_.rails();
    for (size_t r = 0; r < rails.size(); ++r)
      if (rails[r].wait_fd() < 0) return false;
    return true;
  }
  RailSet<R>& rails() noexcept { return initiator_.rails(); }
  uint64_t helps() const noexcept { return helps_.load(std::memory_order_relaxed); }
  /// Whether kernels have channels here: their commands may come at any time, and nothing wakes the proxy thread then.
  bool serves_kernels() const noexcept { return serves_kernels_.load(std::memory_order_relaxed); }
  /// Grows when commands of kernels come.
  uint64_t kernel_moves() const noexcept { return kernel_moves_.load(std::memory_order_relaxed); }
  /// Whether no operation here waits for the next step, so that the step may come some tens of microseconds later.
  bool at_rest() noexcept {
    if (!lock_.try_lock()) return true;  // a helper is at work
    const auto holds = [](const auto& drain) { return drain->holds(); };
    const bool rests = !gate_.holds() && std::none_of(drains_.begin(), drains_.end(), holds) &&
                       std::none_of(kernel_drains_.begin(), kernel_drains_.end(), holds);
    lock_.unlock();
    return rests;
  }

  enum class Rest : uint8_t { none, nap, sleep };
  /// How deep the proxy thread may sleep now, if it does not serve kernels. wake_up() must follow, whether the thread
  /// slept or not. `fds` receives the descriptors to sleep on. Producers of channels ring `doorbell`.
  Rest rest(std::vector<int>& fds, int doorbell) noexcept {
    fds.clear();
    if (!lock_.try_lock()) return Rest::nap;  // a helper is at work
    Rest deepest = drains_.empty() ? Rest::sleep : Rest::nap;
    if (gate_.holds()) deepest = Rest::none;  // a flush takes less time than a nap
    for (auto& drain : drains_)
      if (!drain->channel().arm(doorbell) || drain->holds()) deepest = Rest::none;
    const bool busy = responder_.owes_answers() || initiator_.needs_polling();
    for (size_t r = 0; r < initiator_.rails().size(); ++r) {
      R& rail = initiator_.rails()[r];
      const int fd = rail.wait_fd();
      if ((fd < 0 || busy) && deepest == Rest::sleep) deepest = Rest::nap;
      if (fd >= 0) {
        fds.push_back(fd);
        if (!rail.may_sleep()) deepest = Rest::none;
      }
    }
    lock_.unlock();
    return deepest;
  }

  void wake_up() noexcept {
    while (!lock_.try_lock()) sched_yield();  // drains may be added; steps are bounded, so this is short
    for (auto& drain : drains_) drain->channel().disarm();
    lock_.unlock();
  }

  void ignore_failures() noexcept { initiator_.ignore_failures(); }

  /// Waits, after the proxy thread's end, until no access of a flush is under way any more, usually some microseconds.
  /// False: this cannot be known.
  bool settle_flushes() noexcept {
    const uint64_t began = now_ns();
    while (initiator_.flushes_in_flight()) {
      if (now_ns() - began > kPatienceNs) return false;
      try_step(Stepper::proxy_thread);
    }
    return !initiator_.abandoned();  // then nobody knows
  }

 private:
  static constexpr uint64_t kPatienceNs = 500'000'000;  // a rail that takes longer is dead

  struct Unlock {
    void operator()(TryLock* lock) const noexcept { lock->unlock(); }
  };

  const int npes_;
  observe::Observer* const observer_;  ///< null: nobody records
  TryLock lock_;
  std::atomic<uint64_t> helps_{0};
  Initiator<R> initiator_;
  Responder<R> responder_;
  FlushGate<R> gate_;
  Nudger<R> nudger_{initiator_, true};  ///< for the channels
  std::vector<std::unique_ptr<ChannelDrain<R>>> drains_;
  std::vector<std::unique_ptr<ChannelDrain<R>>> kernel_drains_;
  std::atomic<bool> serves_kernels_{false};
  std::atomic<uint64_t> kernel_moves_{0};
};

}  // namespace railshmem

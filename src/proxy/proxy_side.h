// SPDX-License-Identifier: BSD-3-Clause
// The endpoints of a proxy thread, which carry the commands of its share of the kernels' channels. Those of the first
// thread also serve peers' requests and this PE's channels of host threads; any host thread that waits steps them, too.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "src/base/log.h"
#include "src/observe/observer.h"
#include "src/proxy/channel_drain.h"
#include "src/proxy/doze.h"
#include "src/proxy/peer_service.h"
#include "src/proxy/source/initiator.h"
#include "src/proxy/source/peer_doorbell.h"
#include "src/proxy/try_lock.h"

namespace railshmem {

/// Who pushes into a channel. Host threads ring a doorbell when the proxy sleeps, kernels cannot.
enum class Pushers : uint8_t { host_threads, kernels };

template <Rail R>
class ProxySide {
 public:
  /// Of the first thread.
  ProxySide(std::span<R> rails, std::span<const Segment> segments, const InitiatorConfig& config,
            observe::Observer* observer = nullptr, const FlushPlan& flush = {}, StagingPart* target_staging = nullptr)
      : npes_(config.npes), observer_(observer), initiator_(rails, config), traffic_wakes_(has_wait_objects()) {
    service_.emplace(initiator_, segments, config.npes, observer, flush, target_staging);
  }
  /// Of a further thread: nothing arrives but completions and answers. `traffic_wakes` is that of the first thread.
  ProxySide(std::span<R> rails, const InitiatorConfig& config, bool traffic_wakes, observe::Observer* observer)
      : npes_(config.npes), observer_(observer), initiator_(rails, config), traffic_wakes_(traffic_wakes) {}

  /// Adds channels to serve. Called before the proxy thread runs, or inside alone().
  void serve(std::span<Channel* const> channels, Pushers pushers) {
    PeerDoorbell<R>* const peer_doorbell = traffic_wakes_ ? nullptr : &peer_doorbell_;
    auto& drains = pushers == Pushers::kernels ? kernel_drains_ : drains_;
    for (Channel* channel : channels)
      drains.push_back(std::make_unique<ChannelDrain<R>>(*channel, initiator_, npes_, peer_doorbell));
    // relaxed: a hint; the drains themselves are guarded by the lock.
    serves_kernels_.store(!kernel_drains_.empty(), std::memory_order_relaxed);
  }

  /// Sets how the first thread holds requests back from now on. Called inside alone().
  void use_flush(const FlushPlan& plan) { service_->use_flush(plan); }

  enum class Stepper : uint8_t { proxy_thread, waiting_host };
  /// One bounded step, unless another thread is at it. A host thread that waits leaves a sign by which the proxy thread
  /// stays away. True when something moved.
  bool try_step(Stepper stepper) noexcept {
    if (!lock_.try_lock()) return false;
    // relaxed: a hint; written under the lock, so no increment is lost
    if (stepper == Stepper::waiting_host) helps_.store(helps() + 1, std::memory_order_relaxed);
    const StepRecord record(observer_);
    bool moved = initiator_.poll([this](size_t r, const std::byte* bytes, size_t nbytes) {
      if (!service_) [[unlikely]]
        return initiator_.refuse(r, Flaw::kind, bytes, nbytes);
      service_->arrive(r, bytes, nbytes);
    });
    if (service_) moved |= service_->step();
    for (auto& drain : drains_) moved |= drain->step();
    bool kernels_moved = false;
    for (auto& drain : kernel_drains_) kernels_moved |= drain->step();
    // relaxed: a hint; written under the lock, so no increment is lost
    if (kernels_moved) kernel_moves_.store(kernel_moves() + 1, std::memory_order_relaxed);
    moved |= kernels_moved;
    record.notify(moved);
    lock_.unlock();
    return moved;
  }
  /// Runs `body`, which may throw, while no other thread uses the rails. Steps are bounded, so the wait is short.
  template <class Body>
  void alone(Body&& body) {
    while (!lock_.try_lock()) sched_yield();
    const std::lock_guard<TryLock> held(lock_, std::adopt_lock);
    body();
  }

  /// True when arriving traffic wakes a first proxy thread that sleeps, here and at peers.
  bool traffic_wakes() const noexcept { return traffic_wakes_; }
  /// Whether only doorbell messages of peers tell this side early that their traffic comes.
  bool needs_doorbells() const noexcept { return service_.has_value() && !traffic_wakes_; }
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
    const bool rests = !(service_ && service_->holds()) && std::none_of(drains_.begin(), drains_.end(), holds) &&
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
    const Rest depth = service_ ? rest_of_first(fds, doorbell) : rest_of_further();
    lock_.unlock();
    return depth;
  }

  void wake_up() noexcept {
    while (!lock_.try_lock()) sched_yield();  // drains may be added; steps are bounded, so this is short
    for (auto& drain : drains_) drain->channel().disarm();
    lock_.unlock();
  }

  void ignore_failures() noexcept { initiator_.ignore_failures(); }
  /// Lets no thread step this side any more.
  void close() noexcept {
    while (!lock_.try_lock()) sched_yield();
  }

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

  bool has_wait_objects() noexcept {
    RailSet<R>& rails = initiator_.rails();
    for (size_t r = 0; r < rails.size(); ++r)
      if (rails[r].wait_fd() < 0) return false;
    return true;
  }

  Rest rest_of_first(std::vector<int>& fds, int doorbell) noexcept {
    Rest deepest = drains_.empty() ? Rest::sleep : Rest::nap;
    if (service_->holds()) deepest = Rest::none;  // a flush takes less time than a nap
    for (auto& drain : drains_)
      if (!drain->channel().arm(doorbell) || drain->holds()) deepest = Rest::none;
    const bool busy = service_->owes_answers() || initiator_.needs_polling();
    for (size_t r = 0; r < initiator_.rails().size(); ++r) {
      R& rail = initiator_.rails()[r];
      const int fd = rail.wait_fd();
      if ((fd < 0 || busy) && deepest == Rest::sleep) deepest = Rest::nap;
      if (fd >= 0) {
        fds.push_back(fd);
        if (!rail.may_sleep()) deepest = Rest::none;
      }
    }
    return deepest;
  }
  /// Without rings: completions and news are all that may come.
  Rest rest_of_further() const noexcept {
    return initiator_.outstanding() > 0 || initiator_.failover().has_news() ? Rest::nap : Rest::sleep;
  }

  const int npes_;
  observe::Observer* const observer_;  ///< null: nobody records
  TryLock lock_;
  std::atomic<uint64_t> helps_{0};
  Initiator<R> initiator_;
  std::optional<PeerService<R>> service_;  ///< empty: a further thread's
  const bool traffic_wakes_;
  PeerDoorbell<R> peer_doorbell_{initiator_, true};  ///< for the channels
  std::vector<std::unique_ptr<ChannelDrain<R>>> drains_;
  std::vector<std::unique_ptr<ChannelDrain<R>>> kernel_drains_;
  std::atomic<bool> serves_kernels_{false};
  std::atomic<uint64_t> kernel_moves_{0};
};

}  // namespace railshmem

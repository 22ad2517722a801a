// SPDX-License-Identifier: BSD-3-Clause
// Who may touch the host endpoint: its host threads nearly always, the proxy thread when they are silent.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "src/base/align.h"
#include "src/base/cpu.h"
#include "src/proxy/asymmetric_fence.h"
#include "src/proxy/post/operation.h"

namespace railshmem {

enum class HostThreads : uint8_t { one, several };

/// Biased mutual exclusion. enter() and leave() of a single host thread are plain stores and loads; the proxy's
/// try_enter() pays for both with a process-wide barrier. Several host threads first exclude each other by a spinlock,
/// which those that merely wait for something give to those that want to post (wanted(), try_enter_idle()).
class PortLock {
 public:
  explicit PortLock(HostThreads threads, AsymmetricFence::Kind kind = AsymmetricFence::Kind::best) noexcept
      : several_(threads == HostThreads::several), fence_(kind) {}
  PortLock(const PortLock&) = delete;  // the threads share it by address

  /// From now on several host threads may enter at once. Called by the only host thread so far, outside, before it
  /// starts another.
  void admit_several() noexcept { several_ = true; }

  void enter() noexcept {
    if (several_) lock_hosts();
    enter_before_proxy();
  }

  /// For a thread that only waits: enters unless somebody else is inside or wants to be.
  bool try_enter_idle() noexcept {
    // test first: an attempt takes the cache line away from the thread inside. acquire: pairs with leave(), as in
    // lock_hosts().
    if (several_ &&
        (wanted() || hosts_.test(std::memory_order_relaxed) || hosts_.test_and_set(std::memory_order_acquire)))
      return false;
    enter_before_proxy();
    return true;
  }

  /// Another host thread waits for the lock: a holder that only polls should release it. relaxed: a hint.
  bool wanted() const noexcept { return wanted_.load(std::memory_order_relaxed) > 0; }

  void leave() noexcept {
    // relaxed: only the proxy reads it, as a sign of life.
    visits_.store(visits_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // release: pairs with the acquire in try_enter(); without it the proxy could see half of our changes.
    host_in_.store(0, std::memory_order_release);
    if (several_) hosts_.clear(std::memory_order_release);  // release: pairs with lock_hosts()
  }

  /// Lets a thread in that wants to, for one that waits and must stay inside; to be called every turn.
  void pass() noexcept {
    if (!wanted()) return;
    leave();
    // The leaving thread has the lock in its cache and would win it back again and again: it steps aside until another
    // thread has taken the lock.
    for (int turn = 1; turn <= kStepAside && wanted() && !hosts_.test(std::memory_order_relaxed); ++turn) {
      if (turn % 64 == 0) {
        sched_yield();
      } else {
        cpu_pause();
      }
    }
    enter();
  }

  /// The proxy's side; false when a host thread is inside.
  bool try_enter() noexcept {
    if (host_in_.load(std::memory_order_relaxed) != 0) return false;  // a hint that saves the barrier
    proxy_in_.store(1, std::memory_order_relaxed);                    // relaxed: heavy() orders it before the load
    fence_.heavy();
    // acquire: pairs with leave(); without it we could see half of the host's changes.
    if (host_in_.load(std::memory_order_acquire) == 0) return true;
    leave_proxy();
    return false;
  }
  /// release: pairs with the acquire loads of proxy_in_ in enter() and wait_for_proxy().
  void leave_proxy() noexcept { proxy_in_.store(0, std::memory_order_release); }

  /// Grows with every leave(): unchanged means that the host was silent.
  uint64_t visits() const noexcept { return visits_.load(std::memory_order_relaxed); }

  /// Takes the endpoint from all other host threads for good, when none is inside any more. For `several`. A thread
  /// that comes later, or waits to return, ends the job.
  void close() noexcept {
    closed_.store(true, std::memory_order_relaxed);  // relaxed: orders nothing; hosts_ does
    wanted_.fetch_add(1, std::memory_order_relaxed);
    while (hosts_.test_and_set(std::memory_order_acquire)) sched_yield();  // acquire: pairs with leave()
    wanted_.fetch_sub(1, std::memory_order_relaxed);
  }
  bool closed() const noexcept { return closed_.load(std::memory_order_relaxed); }

  AsymmetricFence& fence() noexcept { return fence_; }

 private:
  static constexpr int kStepAside = 1024;  // with 16 yields: the thread that waits for the lock may not be running

  void enter_before_proxy() noexcept {
    // relaxed: light() orders it before the load; pairs with heavy() in try_enter().
    host_in_.store(1, std::memory_order_relaxed);
    fence_.light();
    // acquire: pairs with leave_proxy(); without it the proxy's changes to the endpoint could be missed.
    if (proxy_in_.load(std::memory_order_acquire) != 0) wait_for_proxy();
  }

  void lock_hosts() noexcept {
    if (!hosts_.test_and_set(std::memory_order_acquire)) return;  // acquire: pairs with leave()
    wanted_.fetch_add(1, std::memory_order_relaxed);
    wait_for_hosts();
    wanted_.fetch_sub(1, std::memory_order_relaxed);
  }

  [[gnu::noinline]] void wait_for_hosts() noexcept {
    for (int turn = 1; hosts_.test_and_set(std::memory_order_acquire); ++turn) {  // acquire: pairs with leave()
      // 64 turns are longer than any post; after that the holder is probably not running.
      if (turn % 64 == 0) {
        if (closed()) die_too_late();
        sched_yield();
      } else {
        cpu_pause();
      }
    }
  }

  [[gnu::noinline, gnu::cold]] void wait_for_proxy() noexcept {
    do {
      // Step back, or the proxy's try_enter() and this would refuse each other forever.
      host_in_.store(0, std::memory_order_release);  // release: pairs with try_enter(), as in leave()
      for (int turn = 1; proxy_in_.load(std::memory_order_acquire) != 0; ++turn) {  // acquire: pairs with leave_proxy()
        if (turn % 64 == 0) {
          sched_yield();
        } else {
          cpu_pause();
        }
      }
      host_in_.store(1, std::memory_order_relaxed);  // as in enter()
      fence_.light();
    } while (proxy_in_.load(std::memory_order_acquire) != 0);  // acquire: as in enter()
  }

  bool several_;  ///< read by host threads only
  AsymmetricFence fence_;
  std::atomic_flag hosts_{};
  std::atomic<int> wanted_{0};  ///< host threads that wait for the lock
  std::atomic<bool> closed_{false};
  alignas(kCacheLine) std::atomic<uint32_t> host_in_{0};
  std::atomic<uint64_t> visits_{0};  // written with host_in_, so on its line
  alignas(kCacheLine) std::atomic<uint32_t> proxy_in_{0};
};

}  // namespace railshmem

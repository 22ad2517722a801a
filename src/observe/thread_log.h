// SPDX-License-Identifier: BSD-3-Clause
// What one thread of a PE did: its counters, its newest events, and the calls that it is in.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <span>

#include "src/observe/counters.h"
#include "src/observe/kind.h"

namespace railshmem::observe {

/// Only the log's own thread writes; the thread that ends the job reads, under the Observer's mutex.
class ThreadLog {
 public:
  explicit ThreadLog(int number) noexcept : number_(number) {}

  int number() const noexcept { return number_; }
  Counters& counters() noexcept { return counters_; }

  /// Keeps an event. False when there is no room: call make_room() or empty(), then call again.
  bool keep(const Event& event) noexcept {
    const uint32_t n = used_.load(std::memory_order_relaxed);  // relaxed: only this thread writes it
    if (n == capacity_) return false;
    events_[n] = event;
    used_.store(n + 1, std::memory_order_release);  // release: pairs with kept(); the event is whole
    return true;
  }
  /// The kept events. Called under the mutex, which keeps the owner from starting again at the front.
  std::span<const Event> kept() const noexcept {
    // acquire: pairs with keep(); otherwise neither the events nor their address may be visible yet.
    const uint32_t n = used_.load(std::memory_order_acquire);
    return n == 0 ? std::span<const Event>() : std::span<const Event>(events_.get(), n);
  }
  /// Allocates the buffer, at a thread's first event. False when there is no memory.
  bool make_room() noexcept {
    if (capacity_ > 0) return true;
    events_.reset(new (std::nothrow) Event[kEvents]);
    if (events_) capacity_ = kEvents;
    return capacity_ > 0;
  }
  /// Drops all events. Called under the mutex, by the owner.
  void empty() noexcept { used_.store(0, std::memory_order_relaxed); }

  /// The call that the program is in. Calls that the library makes in it do not count as calls of the program.
  struct Call {
    Event event{};
    Kind kind{};
    Way way{};
    int depth = 0;
  } call;
  const char* name = nullptr;  ///< in the timeline; null: by number. Guarded by the mutex
  uint64_t dropped = 0;        ///< events without room. Guarded by the mutex

 private:
  static constexpr uint32_t kEvents = 8192;  // 384 KiB; to write so much costs some 100 us

  const int number_;
  Counters counters_;
  std::unique_ptr<Event[]> events_;
  uint32_t capacity_ = 0;
  std::atomic<uint32_t> used_{0};
};

}  // namespace railshmem::observe

// SPDX-License-Identifier: BSD-3-Clause
// Calls that streams have been given and that the host will run.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "src/base/log.h"

namespace railshmem {

/// once: the stream comes to the call one time. replayed: a graph holds the call and comes to it with every replay.
enum class Lifetime : uint8_t { once, replayed };

/// A stream asks for a number that it was not given.
[[noreturn]] inline void die_of_number(uint32_t number) noexcept {
  die("a stream asks for call %u, which the library does not keep: the program has overwritten the library's memory",
      number);
}

/// Any number of threads. `Call` is a value that copies without throwing.
template <class Call>
class CallList {
 public:
  explicit CallList(uint32_t most = ~uint32_t{0}) noexcept : most_(most) {}

  /// Keeps a call. Returns its number, which is at least 1; numbers of calls that are gone are given again. 0: `most`
  /// are kept. Throws std::bad_alloc.
  uint32_t add(Call call, Lifetime lifetime) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      if (calls_.size() == most_) return 0;
      if (free_.capacity() == calls_.size()) free_.reserve(2 * calls_.size() + 64);  // so that over() allocates nothing
      calls_.emplace_back();
      free_.push_back(static_cast<uint32_t>(calls_.size()));
      highest_.store(free_.back(), std::memory_order_relaxed);
    }
    const uint32_t number = free_.back();
    free_.pop_back();
    const bool once = lifetime == Lifetime::once;
    calls_[number - 1] = {std::move(call), lifetime, true, once ? turns_++ : 0};
    ++(once ? coming_ : replayed_);
    return number;
  }
  /// The call of that number, which runs now.
  Call find(uint32_t number) const noexcept {
    const std::lock_guard lock(mutex_);
    return kept(number).call;
  }
  /// It has run. Forgets it unless it may come again.
  void over(uint32_t number) noexcept {
    const std::lock_guard lock(mutex_);
    if (kept(number).lifetime == Lifetime::once) drop(number);
  }
  /// find() and over(). `*in_turn`, which may be null: false where a call that was kept before, and comes one time, has
  /// not been taken.
  Call take(uint32_t number, bool* in_turn = nullptr) noexcept {
    const std::lock_guard lock(mutex_);
    const Kept& one = kept(number);
    Call call = one.call;
    const bool once = one.lifetime == Lifetime::once;
    if (in_turn) *in_turn = !once || one.turn == taken_;
    if (!once) return call;
    ++taken_;
    drop(number);
    return call;
  }
  /// The graph of a call that may come again is gone.
  void forget(uint32_t number) noexcept {
    const std::lock_guard lock(mutex_);
    drop(number);
  }
  /// Whether some call may come again.
  bool has_replayed() const noexcept {
    const std::lock_guard lock(mutex_);
    return replayed_ > 0;
  }
  bool empty() const noexcept {
    const std::lock_guard lock(mutex_);
    return replayed_ + coming_ == 0;
  }
  /// No call has had a higher number. relaxed: a stream asks for a number some time after add().
  uint32_t highest() const noexcept { return highest_.load(std::memory_order_relaxed); }

 private:
  struct Kept {
    Call call{};
    Lifetime lifetime = Lifetime::once;
    bool is_kept = false;
    uint64_t turn = 0;  ///< among calls that come one time
  };

  const Kept& kept(uint32_t number) const noexcept {
    if (number == 0 || number > calls_.size() || !calls_[number - 1].is_kept) die_of_number(number);
    return calls_[number - 1];
  }
  void drop(uint32_t number) noexcept {
    --(kept(number).lifetime == Lifetime::once ? coming_ : replayed_);
    calls_[number - 1] = {};
    free_.push_back(number);
  }

  const uint32_t most_;
  std::atomic<uint32_t> highest_{0};
  mutable std::mutex mutex_;
  std::deque<Kept> calls_;  ///< by number, from 1
  std::vector<uint32_t> free_;
  uint64_t turns_ = 0, taken_ = 0;  ///< calls that come one time: kept so far, taken so far
  size_t coming_ = 0, replayed_ = 0;
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Peers that have died while this PE goes on (SHMEM_SURVIVE).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "src/proxy/post/operation.h"

namespace railshmem {

/// Of a PE. One thread adds peers, the ports look.
class LostPeers {
 public:
  explicit LostPeers(int npes) : lost_(static_cast<size_t>(npes)) {}

  void add(int pe) noexcept {
    lost_[static_cast<size_t>(pe)].store(true, std::memory_order_relaxed);
    // release: pairs with count(); who sees the number sees the peer.
    count_.fetch_add(1, std::memory_order_release);
  }
  uint32_t count() const noexcept { return count_.load(std::memory_order_acquire); }
  bool has(int pe) const noexcept { return lost_[static_cast<size_t>(pe)].load(std::memory_order_relaxed); }

 private:
  std::vector<std::atomic<bool>> lost_;
  std::atomic<uint32_t> count_{0};
};

/// An operation that failed. The peer may have died, which is known a little later, or the network failed.
struct Doubt {
  Operation what;  ///< of kind none: the rail did not say which operation failed
  size_t rail;
  int error;
  uint64_t since_ns;
};

/// What a port knows of lost peers. What is posted to one reaches no rail: it is swallowed, and ends at the next poll.
/// What is posted to a peer in doubt is swallowed, too, and ends when the peer is known to be lost. One thread at a
/// time.
class GonePeers {
 public:
  /// Whether there is any, or a doubt.
  bool any() const noexcept { return any_; }
  bool has(int pe) const noexcept { return any_ && state_[static_cast<size_t>(pe)] == State::gone; }
  bool swallows(int pe) const noexcept { return any_ && state_[static_cast<size_t>(pe)] != State::here; }

  void prepare(int npes, size_t cells) {
    state_.resize(static_cast<size_t>(npes));
    awaited_.resize(cells);
    swallowed_.reserve(cells);
  }
  void add(int pe) noexcept { set(pe, State::gone); }
  void doubt(const Doubt& one) {
    doubts_.push_back(one);
    if (one.what.kind != OpKind::none) set(one.what.pe, State::doubted);
  }
  std::vector<Doubt>& doubts() noexcept { return doubts_; }

  /// The cell was posted to a peer that swallows.
  void swallow(uint32_t cell) noexcept { swallowed_.push_back(cell); }
  /// Hands out the swallowed cells for which may_end(cell) is true.
  template <class MayEnd>
  std::vector<uint32_t> take_swallowed(MayEnd&& may_end) {
    const auto kept = std::stable_partition(swallowed_.begin(), swallowed_.end(), std::not_fn(may_end));
    std::vector<uint32_t> taken(kept, swallowed_.end());
    swallowed_.erase(kept, swallowed_.end());
    return taken;
  }

  /// Cells whose last event the provider may still tell, though nobody waits for it: they are not used again before.
  void await_event(uint32_t cell) noexcept { awaited_[cell] = true; }
  bool awaits_event(uint32_t cell) const noexcept { return any_ && awaited_[cell]; }
  void event_came(uint32_t cell) noexcept { awaited_[cell] = false; }

 private:
  enum class State : uint8_t { here, doubted, gone };
  void set(int pe, State state) noexcept {
    State& of_pe = state_[static_cast<size_t>(pe)];
    if (of_pe < state) of_pe = state;
    any_ = true;
  }

  bool any_ = false;
  std::vector<State> state_;
  std::vector<bool> awaited_;
  std::vector<uint32_t> swallowed_;
  std::vector<Doubt> doubts_;
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Operations of a channel that wait: a fence holds them back, or their PE takes nothing. Those to other PEs go past
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "src/plugin/op.h"

namespace railshmem {

/// An operation that has left the ring.
struct DeferredOp {
  Op op;
  uint64_t value = 0;  ///< data that came inside the command; op.local points here
  uint32_t epoch = 0;  ///< the fence of the channel that the operation stands behind
};

/// Fixed capacity. Operations to one PE stay in the order in which they came. 8 bytes per PE.
class DeferredOps {
 public:
  explicit DeferredOps(int npes) : peers_(static_cast<size_t>(npes)) {
    for (size_t i = 0; i < kMost; ++i) free_[i] = static_cast<uint8_t>(i);
  }
  DeferredOps(const DeferredOps&) = delete;  // operations point into it

  bool empty() const noexcept { return count_ == 0; }
  bool full() const noexcept { return count_ == kMost; }
  /// Whether some wait for `pe`: others must queue up behind them.
  bool waits_for(int pe) const noexcept { return peers_[static_cast<size_t>(pe)].waiting > 0; }

  /// Puts an operation behind those to its PE. Data that came inside the command, sizeof DeferredOp::value at op.local,
  /// is copied.
  void add(const Op& op, uint32_t epoch) noexcept {
    const uint8_t place = free_[kMost - 1 - count_];
    order_[count_++] = place;
    ++peer_of(op).waiting;
    DeferredOp& deferred = places_[place];
    deferred.op = op;
    deferred.epoch = epoch;
    if (op.local_is_ours())
      deferred.op.local = static_cast<std::byte*>(std::memcpy(&deferred.value, op.local, sizeof deferred.value));
  }

  /// Calls `issue(deferred)` for the first operation to every PE, and as long as they go for those behind it. True when
  /// any went.
  template <class Issue>
  bool step(Issue&& issue) noexcept {
    ++pass_;
    size_t kept = 0;
    const size_t count = count_;
    for (size_t i = 0; i < count; ++i) {
      const uint8_t place = order_[i];
      Peer& peer = peer_of(places_[place].op);
      if (peer.stuck_in == pass_ || !issue(places_[place])) {
        peer.stuck_in = pass_;
        order_[kept++] = place;
        continue;
      }
      --peer.waiting;
      --count_;
      free_[kMost - 1 - count_] = place;
    }
    return kept < count;
  }

 private:
  static constexpr size_t kMost = 128;
  struct Peer {
    uint32_t waiting = 0;
    uint32_t stuck_in = 0;  ///< the pass in which one of them could not go
  };
  Peer& peer_of(const Op& op) noexcept { return peers_[static_cast<size_t>(op.remote.pe)]; }

  std::array<DeferredOp, kMost> places_{};
  std::array<uint8_t, kMost> order_{};  ///< of the first count_: places, oldest first
  std::array<uint8_t, kMost> free_{};   ///< the first kMost - count_ are free places
  size_t count_ = 0;
  uint32_t pass_ = 0;
  std::vector<Peer> peers_;
};

}  // namespace railshmem

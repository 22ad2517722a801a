// SPDX-License-Identifier: BSD-3-Clause
// Commands of a channel that wait for what a fence holds back. Those to other PEs go past them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "include/shmem/detail/command.h"
#include "src/proxy/post/transfer.h"

namespace railshmem {

/// A command that has left the ring.
struct TakenCommand {
  Command command;
  uint64_t ticket = 0;
  uint32_t tickets = 1;  ///< as many commands of the ring became this one
  uint32_t epoch = 0;    ///< the fence of the channel that it stands behind
  Transfer transfer{};   ///< perhaps half posted, and then pointing into this
};

/// Fixed capacity; to one PE they stay in the order in which they came. 8 bytes per PE.
class ParkedCommands {
 public:
  explicit ParkedCommands(int npes) : peers_(static_cast<size_t>(npes)) {
    for (size_t i = 0; i < kMost; ++i) free_[i] = static_cast<uint8_t>(i);
  }
  ParkedCommands(const ParkedCommands&) = delete;  // transfers point into it

  bool empty() const noexcept { return count_ == 0; }
  bool full() const noexcept { return count_ == kMost; }
  /// Some wait for `pe`: others must queue up behind them.
  bool waits_for(uint32_t pe) const noexcept { return peers_[pe].waiting > 0; }

  /// A place for one more, the last of its PE.
  TakenCommand& add(uint32_t pe) noexcept {
    const uint8_t place = free_[kMost - 1 - count_];
    order_[count_++] = place;
    ++peers_[pe].waiting;
    return places_[place];
  }

  /// `post(command)` for the first one of every PE, and as long as they go for those behind it. True when any went.
  template <class Post>
  bool step(Post&& post) noexcept {
    ++pass_;
    size_t kept = 0;
    const size_t count = count_;
    for (size_t i = 0; i < count; ++i) {
      const uint8_t place = order_[i];
      Peer& peer = peers_[places_[place].command.pe];
      if (peer.stuck_in == pass_ || !post(places_[place])) {
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

  std::array<TakenCommand, kMost> places_{};
  std::array<uint8_t, kMost> order_{};  ///< of the first count_: places, oldest first
  std::array<uint8_t, kMost> free_{};   ///< the first kMost - count_ are free places
  size_t count_ = 0;
  uint32_t pass_ = 0;
  std::vector<Peer> peers_;
};

}  // namespace railshmem

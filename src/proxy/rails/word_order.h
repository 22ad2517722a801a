// SPDX-License-Identifier: BSD-3-Clause
// Keeps puts of single words to one PE in the order of the program. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/proxy/rails/path_table.h"

namespace railshmem {

/// The standard orders puts only by fence, but programs set a flag to 1 and then to 2 and wait for 2; over one rail
/// that works. So words to one PE take one rail as long as one of them is under way. 8 bytes per peer; none for one
/// rail.
class WordOrder {
 public:
  WordOrder(size_t rails, int npes)
      : longest_(rails > 1 ? sizeof(uint64_t) : 0), peers_(rails > 1 ? static_cast<size_t>(npes) : 0) {}

  /// Whether a put of so many bytes, more than 0, is a word. Over one rail none is: that rail keeps the order.
  bool orders(size_t nbytes) const noexcept { return nbytes <= longest_; }
  /// The rail that the next word must take; kNoRail: any.
  size_t rail(int pe) const noexcept {
    const Peer& peer = peers_[static_cast<size_t>(pe)];
    return peer.under_way > 0 ? peer.rail : kNoRail;
  }
  void posted(int pe, size_t rail) noexcept {
    Peer& peer = peers_[static_cast<size_t>(pe)];
    ++peer.under_way;
    peer.rail = static_cast<uint8_t>(rail);
  }
  void moved(int pe, size_t rail) noexcept { peers_[static_cast<size_t>(pe)].rail = static_cast<uint8_t>(rail); }
  void completed(int pe) noexcept { --peers_[static_cast<size_t>(pe)].under_way; }

 private:
  struct Peer {
    uint32_t under_way = 0;
    uint8_t rail = 0;
  };
  const size_t longest_;  ///< bytes of a word
  std::vector<Peer> peers_;
};

}  // namespace railshmem

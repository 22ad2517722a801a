// SPDX-License-Identifier: BSD-3-Clause
// Memory of GPUs that rails reach without staging: which bytes, of this PE and of its peers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/base/log.h"
#include "src/plugin/flush.h"
#include "src/plugin/segment.h"

namespace railshmem {

/// Pieces of the device heap, each a segment of its own for rails. Empty where all GPU memory is staged. Changed only
/// while no port is in use, so that all of them read it without a lock.
class DirectMemory {
 public:
  /// `reached`: by PE, whether rails reach its memory of this piece.
  void add(const DevicePiece& piece, std::vector<bool> reached, bool mine) {
    const bool all = std::find(reached.begin(), reached.end(), false) == reached.end();
    pieces_.push_back({piece.at, piece.nbytes, mine ? piece.base : nullptr, all, std::move(reached)});
  }
  bool empty() const noexcept { return pieces_.empty(); }
  size_t size() const noexcept { return pieces_.size(); }

  /// Makes a place in the device heap one for rails. False, and nothing changed: they do not reach all these bytes at
  /// once.
  bool redirect(Remote& place, size_t nbytes) const noexcept {
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& piece = pieces_[i];
      const uint64_t offset = place.offset - piece.at;
      if (offset >= piece.nbytes) continue;
      if (nbytes > piece.nbytes - offset || !(piece.all || piece.reached[static_cast<size_t>(place.pe)])) return false;
      place.segment = segment_of_piece(i);
      place.offset = offset;
      return true;
    }
    return false;
  }
  /// Rails reach these bytes of this PE's own memory at once.
  bool has(const std::byte* local, size_t nbytes) const noexcept {
    for (const Piece& piece : pieces_) {
      const auto offset = reinterpret_cast<uintptr_t>(local) - reinterpret_cast<uintptr_t>(piece.base);
      if (piece.base != nullptr && offset < piece.nbytes) return nbytes <= piece.nbytes - offset;
    }
    return false;
  }

  /// How what gets brought is made visible to this PE's GPU. Where only rails could do it, by reads of their own, gets
  /// are staged.
  void use_flush(const FlushChoice& choice) noexcept {
    takes_gets_ = choice.policy == FlushPolicy::none || choice.policy == FlushPolicy::cuda;
    flush_ = choice.policy == FlushPolicy::cuda ? choice.device : nullptr;
  }
  bool takes_gets() const noexcept { return takes_gets_; }
  /// A get has brought these bytes: returns when the GPU sees them.
  void got(const std::byte* local, size_t nbytes) const noexcept {
    if (flush_ != nullptr && has(local, nbytes)) run(*flush_);
  }

 private:
  struct Piece {
    uint64_t at;
    size_t nbytes;
    const std::byte* base;  ///< null: this PE stages its own
    bool all;               ///< `reached` is true for every PE
    std::vector<bool> reached;
  };

  std::vector<Piece> pieces_;
  bool takes_gets_ = false;
  const DeviceFlush* flush_ = nullptr;  ///< null: gets need none
};

}  // namespace railshmem

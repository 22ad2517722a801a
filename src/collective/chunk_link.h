// SPDX-License-Identifier: BSD-3-Clause
// Links: chunks from one member to another on a different node, in no order among each other.
//
// A link counts its chunks for as long as the team lives, and both ends know how many a collective brings. The receiver
// grants the sender numbers up to which it may send: at its entry, when its memory is free, and whenever it has used a
// chunk. A chunk's signal is word n modulo ChunkSignals::kWindow, and number n is granted only when n - kWindow has
// been used. So no two signals of one word are on their way at once, and chunks may overtake each other.
#pragma once

#include <algorithm>

#include "src/collective/link.h"

namespace railshmem {

/// A run of bytes, cut into chunks of which all but the last are equally long.
struct Chunks {
  size_t nbytes;
  size_t chunk;  ///< bytes; at least 1

  size_t count() const noexcept { return (nbytes + chunk - 1) / chunk; }
  size_t start(size_t i) const noexcept { return i * chunk; }
  size_t length(size_t i) const noexcept { return std::min(chunk, nbytes - start(i)); }
};

/// The chunks of nbytes that go over one link: short, because what is done with the last one comes on top of the
/// network's time, but long enough for the network to be at its speed.
inline Chunks cut(const Team& team, size_t nbytes) noexcept {
  constexpr size_t kLeast = size_t{1} << 20, kMost = size_t{4} << 20;
  const size_t part = align_up(nbytes / 16, size_t{4096});
  return {nbytes, team.state.collective_chunk ? team.state.collective_chunk : std::clamp(part, kLeast, kMost)};
}

/// The sender's end of a link, for one collective.
class ChunkSender {
 public:
  ChunkSender(Team& team, const char* function, LinkKind kind, int to) noexcept
      : team_(team),
        function_(function),
        kind_(kind),
        to_(to),
        last_(team.links[static_cast<size_t>(kind)][static_cast<size_t>(to)].sent) {}

  int to() const noexcept { return to_; }
  /// Whether the receiver has room for so many more chunks.
  bool granted(uint64_t more = 1) const noexcept {
    return reached(team_.mine(team_.area.chunk_grant(kind_, to_)), last_ + more);
  }
  /// Sends the next chunk to a symmetric address. `source` stays untouched until settle(). Needs granted().
  void send(void* dest, const void* source, size_t nbytes) noexcept {
    const uint64_t number = ++last_;
    push(team_, function_, to_, dest, source, nbytes,
         team_.area.chunk_signals(kind_, team_.rank) + number % ChunkSignals::kWindow * sizeof(uint64_t), number);
    team_.links[static_cast<size_t>(kind_)][static_cast<size_t>(to_)].sent = number;
  }

 private:
  Team& team_;
  const char* const function_;
  const LinkKind kind_;
  const int to_;
  uint64_t last_;  ///< number of the last chunk sent
};

/// The receiver's end of a link, for one collective.
class ChunkReceiver {
 public:
  /// `count` chunks will come, of which at most `window` (up to ChunkSignals::kWindow) at once. Grants the first ones:
  /// from here on they may come.
  ChunkReceiver(Team& team, LinkKind kind, int from, size_t count, uint64_t window = ChunkSignals::kWindow) noexcept
      : team_(team), kind_(kind), from_(from), count_(count), window_(window) {
    uint64_t& received = team.links[static_cast<size_t>(kind)][static_cast<size_t>(from)].received;
    before_ = received;
    received += count;
    grant();
  }

  int from() const noexcept { return from_; }
  size_t count() const noexcept { return count_; }
  /// Chunks first() up to end() may come now or have come; all before first() were used.
  size_t first() const noexcept { return first_; }
  size_t end() const noexcept { return std::min(count_, first_ + window_); }
  bool over() const noexcept { return first_ == count_; }
  /// Whether chunk i of this collective, from first() on and before end(), is there.
  bool arrived(size_t i) const noexcept {
    const uint64_t number = before_ + i + 1;
    return reached(
        team_.mine(team_.area.chunk_signals(kind_, from_) + number % ChunkSignals::kWindow * sizeof(uint64_t)), number);
  }
  /// Chunk i, which arrived, is needed no more: its place may be written again.
  void use(size_t i) noexcept {
    used_ |= 1u << (i - first_);
    if ((used_ & 1) == 0) return;
    for (; (used_ & 1) != 0; used_ >>= 1) ++first_;
    grant();
  }
  bool was_used(size_t i) const noexcept { return i < first_ || (used_ >> (i - first_) & 1) != 0; }

 private:
  void grant() noexcept {
    if (const size_t until = end(); until > granted_) {
      granted_ = until;
      raise(team_, from_, team_.area.chunk_grant(kind_, team_.rank), before_ + until);
    }
  }

  Team& team_;
  const LinkKind kind_;
  const int from_;
  const size_t count_;
  const uint64_t window_;
  uint64_t before_;  ///< number of the last chunk before this collective
  size_t first_ = 0;
  size_t granted_ = 0;
  uint32_t used_ = 0;  ///< bit k: chunk first_ + k was used
};

}  // namespace railshmem

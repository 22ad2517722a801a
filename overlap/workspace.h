// SPDX-License-Identifier: BSD-3-Clause
// The symmetric memory of a handle: words by which members tell each other how far they are, room for cuBLASLt, and
// room for results on their way. All words but `one` are 0 between calls, so that a graph can wait for constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "overlap/planner.h"
#include "shmem/types.h"

namespace railshmem::overlap {

/// The words in the memory of one member. A member clears a word of its own when it has seen it set.
struct Words {
  uint64_t* come;     ///< [n] member k has come to the call: its operand may be read, its room written
  uint64_t* taken;    ///< [n] member k has read this member's operand
  uint64_t* arrived;  ///< [n * kMostPieces] piece p of member k is here, which another PE or thread brought
  uint64_t* ready;    ///< [n * kMostPieces] between nodes: piece p for member k is computed
  uint64_t* done;     ///< [kMostPieces] between nodes: piece p of the result is here
  uint64_t* one;      ///< is always 1: copy engines take it from here into words of other members
};

class Workspace {
 public:
  static constexpr size_t kProducts = size_t{32} << 20;  ///< what cuBLASLt wants on Hopper, for each stream
  static constexpr size_t kProductStreams = 2;

  /// Throws Error where the memory does not lie in the heap of GPU memory, or is too small.
  Workspace(shmem_team_t team, int me, int n, bool mapped, void* memory, size_t nbytes);

  /// For partial results of partial_nbytes together.
  static size_t nbytes(int n, size_t partial_nbytes) noexcept;
  /// Where the words begin: as far into the memory on every member.
  std::byte* words() const noexcept { return base_; }
  /// The words and the room for cuBLASLt.
  static size_t words_nbytes(int n) noexcept;

  int pe_of(int member) const noexcept { return pes_[static_cast<size_t>(member)]; }
  const Words& mine() const noexcept { return words_[static_cast<size_t>(me_)]; }
  /// Of a member whose memory is mapped.
  const Words& of(int member) const noexcept { return words_[static_cast<size_t>(member)]; }
  /// The room of one of kProductStreams.
  void* products(size_t stream) const noexcept { return base_ + words_nbytes(n_) + stream * kProducts; }
  /// Room for results of m * n elements, in parts of a member each: 2 (n - 1) parts. `member`: in whose memory.
  std::byte* parts(int member) const noexcept {
    return bases_[static_cast<size_t>(member)] + words_nbytes(n_) + kProductStreams * kProducts;
  }
  std::byte* parts() const noexcept { return parts(me_); }
  size_t given() const noexcept { return nbytes_; }

 private:
  const int me_, n_;
  std::byte* const base_;  ///< a multiple of 256, which cuBLASLt demands of its room
  const size_t nbytes_;
  std::vector<int> pes_;
  std::vector<std::byte*> bases_;  ///< null: not mapped
  std::vector<Words> words_;
};

}  // namespace railshmem::overlap

// SPDX-License-Identifier: BSD-3-Clause
// Counting tokens for a route: what the kernel is given, and where members tell each other their counts.
#pragma once

#include "moe/kernels/call.h"

namespace railshmem::moe {

inline constexpr unsigned kCountThreads = 256;  ///< of a block at most: each has a token in hand
inline constexpr unsigned kCountBlocks = 64;    ///< at most; their counts lie in the handle's memory

/// A count, with the number of its call above. Words only grow, so nobody clears them.
struct CountWord {
  RAILSHMEM_HD static uint64_t of(uint64_t number, uint32_t count) { return number << 28 | count; }
  RAILSHMEM_HD static uint32_t count(uint64_t word) { return static_cast<uint32_t>(word & 0xfffffffu); }
};

/// Offsets in a member's memory, from `at` on. What members tell each other has two sets, used in turn: who has the
/// counts of exchange k + 1 from all knows that all are done with exchange k, and only then tells k + 2.
class CountPlaces {
 public:
  RAILSHMEM_HD constexpr CountPlaces(int32_t n, uint64_t at) : n_(static_cast<uint64_t>(n)), at_(at) {}

  /// Number of this member's last call, and that of the last one in which the members told each other their counts.
  RAILSHMEM_HD constexpr uint64_t number() const { return at_; }
  RAILSHMEM_HD constexpr uint64_t exchange() const { return at_ + 8; }
  RAILSHMEM_HD constexpr uint64_t counted() const { return at_ + 64; }  ///< blocks that have counted their tokens
  /// How often this member's tokens name the expert; 0 between calls.
  RAILSHMEM_HD constexpr uint64_t named(uint32_t expert) const { return at_ + 128 + 8 * uint64_t{expert}; }
  /// Tokens of a block for member m.
  RAILSHMEM_HD constexpr uint64_t of_block(uint32_t block, uint32_t m) const {
    return named(kMostExperts) + 8 * (block * n_ + m);
  }
  /// Word i of what member s tells: its tokens for each member, all its tokens, and for each local expert here how
  /// often they name it.
  RAILSHMEM_HD constexpr uint64_t told(uint64_t exchange, uint32_t i) const {
    return of_block(kCountBlocks, 0) + 8 * (exchange % 2 * most_told() + i);
  }
  /// Word i of what this member tells members on other nodes, on its way there.
  RAILSHMEM_HD constexpr uint64_t packed(uint32_t i) const { return told(0, 0) + 16 * most_told() + 8 * uint64_t{i}; }
  RAILSHMEM_HD constexpr uint64_t nbytes() const { return packed(0) + 8 * most_told() - at_; }

 private:
  RAILSHMEM_HD constexpr uint64_t most_told() const { return n_ * (n_ + 1) + kMostExperts; }

  const uint64_t n_, at_;
};
inline constexpr uint32_t kMostTold = kMostMembers * (kMostMembers + 1) + kMostExperts;

/// Results may be null, but for begins where the members tell each other their counts.
struct CountCall {
  Members members;
  uint32_t tokens, topk, experts;
  const int64_t* chosen;      ///< [tokens][topk], or null
  const uint8_t* goes;        ///< [tokens][n] instead: 0 where the token does not go to the member
  const int32_t* goes_named;  ///< with goes: [experts], how often tokens name each, or null
  int32_t* numbers;           ///< [tokens][n]
  uint8_t* in_member;         ///< [tokens][n], 0 or 1
  int32_t* to_members;        ///< [n]
  int32_t* to_experts;        ///< [experts]
  int32_t* begins;            ///< [n + 1]; null: the members tell each other nothing
  int32_t* prefixes;          ///< [n][n]: tokens of the members up to the row's one for the column's
  int32_t* received;          ///< [experts / n]
  uint64_t* on_host;          ///< [3 + experts / n]: ticket, rows, most tokens of a member, received
  uint64_t ticket;
};

}  // namespace railshmem::moe

// SPDX-License-Identifier: BSD-3-Clause
// Many tokens: what the kernels are given, and where things lie in the symmetric memory of a handle. The number of a
// token among its member's tokens for another member is known before, so each has a place there, and waits for nobody.
#pragma once

#include "moe/kernels/count.h"

namespace railshmem::moe {

inline constexpr int kMostWords = 4096;         ///< that travel with a token
inline constexpr unsigned kBulkThreads = 1024;  ///< of a block at most, one block on each multiprocessor

inline constexpr uint64_t kBulkFixed = 256 + 16 * kMostMembers;
/// Where the rows' words begin, behind what members tell each other of their counts: one place for any number of
/// members, so that no row costs arithmetic for it.
inline constexpr uint64_t kBulkWords = kBulkFixed + CountPlaces(kMostMembers, kBulkFixed).nbytes();

/// Offsets in a member's memory, equal on all members. All words have the number of their call, so nobody clears them.
/// A member writes into another one's memory again when that one has said that it is done with the call before.
class BulkLayout {
 public:
  RAILSHMEM_HD BulkLayout(int32_t n, int32_t max_tokens, uint64_t row_nbytes)
      : n_(static_cast<uint64_t>(n)), most_(static_cast<uint64_t>(max_tokens)), row_nbytes_(row_nbytes) {}

  /// What dispatches, and what combines have of their own.
  enum Kind : uint32_t { kDispatch = 0, kCombine = 1 };
  RAILSHMEM_HD static uint64_t number(Kind kind) { return 128 * uint64_t{kind}; }  ///< of the last call
  RAILSHMEM_HD static uint64_t ended(Kind kind) { return 64 + number(kind); }      ///< blocks that have ended
  /// Number of the last call that member m is done with.
  RAILSHMEM_HD static uint64_t done(Kind kind, int32_t m) {
    return 256 + 8 * (kMostMembers * uint64_t{kind} + uint64_t(m));
  }
  /// Row i of member m's is here.
  RAILSHMEM_HD uint64_t word(Kind kind, int32_t m, uint32_t i) const {
    return kBulkWords + 8 * (kind * slots() + slot(m, i));
  }
  /// That row: of a dispatch with its scales behind it.
  RAILSHMEM_HD uint64_t row(Kind kind, int32_t m, uint32_t i) const {
    return words_nbytes() + row_stride() * (kind * slots() + slot(m, i));
  }
  /// The words, which begin as 0.
  RAILSHMEM_HD uint64_t words_nbytes() const { return aligned(kBulkWords + 16 * slots()); }
  RAILSHMEM_HD uint64_t nbytes() const { return words_nbytes() + 2 * row_stride() * slots(); }
  RAILSHMEM_HD uint64_t row_stride() const { return aligned(row_nbytes_); }
  RAILSHMEM_HD static uint64_t aligned(uint64_t nbytes) { return (nbytes + 127) / 128 * 128; }

 private:
  RAILSHMEM_HD uint64_t slots() const { return n_ * most_; }
  RAILSHMEM_HD uint64_t slot(int32_t m, uint32_t i) const { return uint64_t(m) * most_ + i; }

  const uint64_t n_, most_, row_nbytes_;
};

/// Row i of a member is here, and is that of token t there.
struct BulkWord {
  RAILSHMEM_HD static uint64_t of(uint64_t number, uint32_t t) { return number << 20 | t; }
  RAILSHMEM_HD static int32_t token(uint64_t word) { return static_cast<int32_t>(word & 0xfffffu); }
};

/// Which tokens go where. All members' routes fit together.
struct BulkRoute {
  uint32_t tokens;
  uint32_t room;           ///< of rows in the call's memory
  const int32_t* numbers;  ///< [tokens][n]: which of this member's tokens for member m it is; -1: it does not go there
  const int32_t* begins;   ///< [n + 1]: the first row here from each member; the last one is the number of rows
};

struct BulkDispatchCall {
  Members members;
  uint64_t row_nbytes;  ///< that a token takes in members' memory at most
  BulkRoute route;
  uint32_t element_nbytes;  ///< of x
  uint32_t words;           ///< of each token
  const void* x;            ///< [tokens][hidden]
  const uint32_t* x_words;  ///< [tokens][words]
  void* rows;               ///< [room][hidden]
  uint32_t* row_words;      ///< [room][words]
  int32_t* sources;         ///< [room], or null
};

struct BulkCombineCall {
  Members members;
  uint64_t row_nbytes;
  BulkRoute route;
  const void* rows;  ///< [room][hidden]
  void* out;         ///< [tokens][hidden]
};

}  // namespace railshmem::moe

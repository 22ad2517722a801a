// SPDX-License-Identifier: BSD-3-Clause
// What the kernels are given, and where things lie in the symmetric memory of a handle.
#pragma once

#include <cstdint>

#include "shmem/detail/device_control.h"
#include "shmem/detail/portable.h"

namespace railshmem::moe {

inline constexpr int kMostMembers = 64;    ///< a token's members are bits of one word
inline constexpr int kMostExperts = 1024;  ///< a block counts tokens by expert in its shared memory
inline constexpr int kMostTopk = 32;
inline constexpr int kMostTokens = 1 << 20;  ///< places of an expert have 20 bits
inline constexpr int kMostHidden = 1 << 14;  ///< a block keeps a maximum for each 128 channels in its shared memory
inline constexpr uint32_t kUnit = 16;        ///< bytes of one load or store
inline constexpr uint32_t kScaled = 128;     ///< channels with one scale
inline constexpr uint32_t kEntriesAtOnce = 8;
inline constexpr uint32_t kMostRepeats = 255;  ///< of combine for a dispatch: 8 bits of its number
/// Up to so many tokens of a member get their sums as packets: a quarter more bytes than sums and a word would be, and
/// no fence.
inline constexpr uint32_t kFewSums = 128;
inline constexpr uint64_t kRenewal = 1 << 13;  ///< dispatches until places of packets are renewed
inline constexpr uint64_t kRenewalParts = 64;  ///< dispatches of each set that share the renewal

/// SHMEMX_MOE_SCALE_*.
enum class Scaling : uint32_t { floats, powers, exponents };

/// The sizes that all members agree on.
struct Shape {
  int32_t n, experts, topk, hidden, max_tokens;
  uint32_t element_nbytes;  ///< of a channel on its way: 2, or 1 with scales
  uint32_t late_weights;    ///< 1: they come with combine
  Scaling scaling;

  RAILSHMEM_HD int32_t local() const { return experts / n; }
  RAILSHMEM_HD bool scaled() const { return element_nbytes == 1; }
  RAILSHMEM_HD uint32_t groups() const { return static_cast<uint32_t>(hidden) / kScaled; }
  RAILSHMEM_HD uint32_t row_nbytes() const { return static_cast<uint32_t>(hidden) * element_nbytes; }
  /// Entries of a token as they travel: filled up, so that a thread loads a fixed number at once.
  RAILSHMEM_HD uint32_t entries() const {
    return (static_cast<uint32_t>(topk) + kEntriesAtOnce - 1) / kEntriesAtOnce * kEntriesAtOnce;
  }
  /// Rows of an expert at most.
  RAILSHMEM_HD uint64_t capacity() const { return uint64_t(n) * uint64_t(max_tokens); }
};

/// One expert of a token at the expert's member: its place, and the bits of its weight above; with late weights, which
/// of the token's topk name it. Combine has the row's number in the place.
struct Entry {
  static constexpr uint32_t kNone = ~0u;  ///< no expert of that member
  RAILSHMEM_HD static uint64_t of(uint32_t local_expert, uint32_t rank, uint32_t weight) {
    return uint64_t{weight} << 32 | (local_expert << 20 | rank);
  }
  RAILSHMEM_HD static uint32_t place(uint64_t entry) { return static_cast<uint32_t>(entry); }
  RAILSHMEM_HD static uint32_t weight(uint64_t entry) { return static_cast<uint32_t>(entry >> 32); }
  RAILSHMEM_HD static uint32_t expert(uint32_t place) { return place >> 20; }
  /// Among the tokens of one source for the expert.
  RAILSHMEM_HD static uint32_t rank(uint32_t place) { return place & 0xfffffu; }
};

/// The number of a dispatch, with what else a word says. Words only grow, so nobody clears them.
struct Word {
  /// Tokens of a source for an expert.
  RAILSHMEM_HD static uint64_t count(uint64_t epoch, uint64_t tokens) { return epoch << 24 | tokens; }
  RAILSHMEM_HD static uint32_t tokens(uint64_t word) { return static_cast<uint32_t>(word) & 0xffffffu; }
  /// A token is here, or has no expert here.
  RAILSHMEM_HD static uint64_t token(uint64_t epoch, bool here) { return epoch << 1 | (here ? 1u : 0u); }
  RAILSHMEM_HD static bool here(uint64_t word) { return (word & 1) != 0; }
};

/// 6 bytes of data with the lowest 16 bits of their call's number: a late weight, or a packet's second word. That is
/// all that tells them from what was there before.
struct Numbered {
  static constexpr uint32_t kBits = 48;  ///< of data
  RAILSHMEM_HD static uint64_t of(uint64_t number, uint64_t data) { return number << kBits | Numbered::data(data); }
  RAILSHMEM_HD static bool is_of(uint64_t number, uint64_t word) { return (number << kBits ^ word) >> kBits == 0; }
  RAILSHMEM_HD static uint64_t data(uint64_t word) { return word & ((uint64_t{1} << kBits) - 1); }
};

/// Offsets in a member's memory, equal on all members. What a dispatch brings has two sets, used in turn: a source that
/// has received dispatch k + 1 from all members knows that they are done with dispatch k, and only then sends k + 2.
class Layout {
 public:
  RAILSHMEM_HD explicit Layout(const Shape& shape) : shape_(shape) {}

  static constexpr uint64_t kEpoch = 0;      ///< number of the last dispatch
  static constexpr uint64_t kMask = 8;       ///< masked members as bits; see Members::mask
  static constexpr uint64_t kTold = 16;      ///< when this member last said that it waits
  static constexpr uint64_t kMeetings = 24;  ///< that this member has come to
  static constexpr uint64_t kEnded = 64;     ///< blocks that have read the number
  static constexpr uint64_t kTheirs = 96;    ///< the words above of a member on another node, fetched
  static constexpr uint64_t kTheirsNbytes = kMeetings + 8;
  /// Tokens of source s in the dispatch that has been received last.
  RAILSHMEM_HD static uint64_t tokens(int32_t s) { return 128 + 4 * uint64_t(s); }
  /// Number of the combine that member s has begun, where somebody asks; see Combining.
  RAILSHMEM_HD static uint64_t begun(int32_t s) { return 128 + 4 * kMostMembers + 8 * uint64_t(s); }
  /// What the blocks have agreed on for source s; see Verdict.
  RAILSHMEM_HD static uint64_t verdict(int32_t s) { return 128 + 12 * kMostMembers + 8 * uint64_t(s); }
  /// Changes while member s waits for another one.
  RAILSHMEM_HD static uint64_t waits(int32_t s) { return 128 + 20 * kMostMembers + 8 * uint64_t(s); }
  /// Number of the meeting that member s has come to.
  RAILSHMEM_HD static uint64_t met(int32_t s) { return 128 + 28 * kMostMembers + 8 * uint64_t(s); }
  static constexpr uint64_t kFixed = 128 + 36 * kMostMembers;

  /// What source s says: tokens for local expert e, and in place local() all its tokens.
  RAILSHMEM_HD uint64_t count(uint64_t epoch, int32_t s, int32_t e) const {
    return kFixed +
           8 * (set(epoch) * uint64_t(shape_.local() + 1) + uint64_t(s) * uint64_t(shape_.local() + 1) + uint64_t(e));
  }
  RAILSHMEM_HD uint64_t token(uint64_t epoch, int32_t s, uint32_t t) const {
    return tokens_at() + 8 * (set(epoch) * uint64_t(shape_.max_tokens) + slot(s, t));
  }
  /// Sums of member `by` for this member's token t.
  RAILSHMEM_HD uint64_t summed(int32_t by, uint32_t t) const { return summed_at() + 8 * slot(by, t); }
  /// Late weights of source s's token t.
  RAILSHMEM_HD uint64_t weights(int32_t s, uint32_t t) const { return weights_at() + weights_nbytes() * slot(s, t); }
  /// Members that have an expert of this member's token, as bits.
  RAILSHMEM_HD uint64_t mask(uint32_t t) const { return masks_at() + 8 * uint64_t{t}; }
  /// Entries of tokens that have come, with the numbers of their rows.
  RAILSHMEM_HD uint64_t found(int32_t s, uint32_t t) const {
    return found_at() + 8 * uint64_t{shape_.entries()} * slot(s, t);
  }
  /// Packets of source s's token t: those of its row, and one for each entry.
  RAILSHMEM_HD uint64_t packets(uint64_t epoch, int32_t s, uint32_t t) const {
    return packets_at() + packets_nbytes() * (set(epoch) * uint64_t(shape_.max_tokens) + slot(s, t));
  }
  /// From one plane of packets to the next, which begins with a line of memory; see Pair.
  RAILSHMEM_HD static uint32_t plane_of(uint32_t pairs) { return (pairs + 7) / 8 * 8; }
  /// Units of a row with its scales, and pairs of them: pair i is units i and row_pairs() + i.
  RAILSHMEM_HD uint32_t row_units() const { return (static_cast<uint32_t>(travelling_nbytes()) + kUnit - 1) / kUnit; }
  RAILSHMEM_HD uint32_t row_pairs() const { return (row_units() + 1) / 2; }
  RAILSHMEM_HD uint32_t row_packets() const { return packets_of(row_pairs()); }
  /// Bytes of the places of one dispatch's packets.
  RAILSHMEM_HD uint64_t set_nbytes() const { return packets_nbytes() * slots(); }
  /// Packets with the sums of member `by` for this member's token t, one of the first kFewSums.
  RAILSHMEM_HD uint64_t sum_packets(int32_t by, uint32_t t) const {
    return sum_packets_at() + sum_packets_nbytes() * (uint64_t(by) * few() + t);
  }
  RAILSHMEM_HD uint64_t sums(int32_t by, uint32_t t) const {
    return sums_at() + 4 * uint64_t(shape_.hidden) * slot(by, t);
  }
  /// Late weights and packets of sums: numbers of 32 bits tell whether they are here.
  RAILSHMEM_HD uint64_t numbered() const { return weights_at(); }
  RAILSHMEM_HD uint64_t numbered_nbytes() const { return packets_at() - weights_at(); }
  /// Words and packets, which begin as 0.
  RAILSHMEM_HD uint64_t words_nbytes() const { return masks_at(); }
  RAILSHMEM_HD uint64_t nbytes() const { return sums_at() + 4 * uint64_t(shape_.hidden) * slots(); }

 protected:
  RAILSHMEM_HD static uint64_t aligned(uint64_t nbytes) { return (nbytes + 127) / 128 * 128; }
  RAILSHMEM_HD uint64_t slots() const { return shape_.capacity(); }
  RAILSHMEM_HD uint64_t slot(int32_t s, uint32_t t) const { return uint64_t(s) * uint64_t(shape_.max_tokens) + t; }
  /// Members before those of this epoch's set.
  RAILSHMEM_HD uint64_t set(uint64_t epoch) const { return epoch % 2 * uint64_t(shape_.n); }
  RAILSHMEM_HD uint64_t travelling_nbytes() const {
    return shape_.row_nbytes() + (shape_.scaled() ? 4 * shape_.groups() : 0);
  }
  RAILSHMEM_HD uint64_t weights_nbytes() const { return shape_.late_weights * 8 * uint64_t(shape_.topk); }

  const Shape shape_;

 private:
  RAILSHMEM_HD static uint32_t packets_of(uint32_t pairs) { return 2 * plane_of(pairs) + (pairs + 1) / 2; }
  RAILSHMEM_HD uint64_t packets_nbytes() const {
    return aligned(sizeof(Packet) * (uint64_t{row_packets()} + shape_.entries()));
  }
  /// Eight sums are a pair.
  RAILSHMEM_HD uint64_t sum_packets_nbytes() const {
    return sizeof(Packet) * packets_of(static_cast<uint32_t>(shape_.hidden) / 8);
  }
  RAILSHMEM_HD uint64_t few() const {
    return uint64_t(shape_.max_tokens) < kFewSums ? uint64_t(shape_.max_tokens) : kFewSums;
  }
  RAILSHMEM_HD uint64_t tokens_at() const {
    return aligned(kFixed + 16 * uint64_t(shape_.n) * uint64_t(shape_.local() + 1));
  }
  RAILSHMEM_HD uint64_t summed_at() const { return aligned(tokens_at() + 16 * slots()); }
  RAILSHMEM_HD uint64_t weights_at() const { return aligned(summed_at() + 8 * slots()); }
  RAILSHMEM_HD uint64_t sum_packets_at() const { return aligned(weights_at() + weights_nbytes() * slots()); }
  RAILSHMEM_HD uint64_t packets_at() const {
    return aligned(sum_packets_at() + sum_packets_nbytes() * uint64_t(shape_.n) * few());
  }
  RAILSHMEM_HD uint64_t masks_at() const { return packets_at() + 2 * set_nbytes(); }
  RAILSHMEM_HD uint64_t found_at() const { return aligned(masks_at() + 8 * uint64_t(shape_.max_tokens)); }
  RAILSHMEM_HD uint64_t sums_at() const { return aligned(found_at() + 8 * uint64_t{shape_.entries()} * slots()); }
};

/// The members, and their memory as this PE sees it. What every call reads stands first: a kernel's arguments come in
/// lines, one behind the other.
struct Members {
  Shape shape;
  int32_t me;
  unsigned char* memory[kMostMembers];
  int32_t pe[kMostMembers];
  int64_t signs;     ///< from the memory to that of the handle that keeps mask and signs of life; 0: this one
  uint64_t* mask;    ///< members that calls go on without, as bits, in this PE's memory; null for many tokens
  uint64_t mask_ns;  ///< a wait of so long masks whom it waits for; 0: no wait does
};

/// Which halves a kernel does.
enum Halves : uint32_t { kSend = 1, kReceive = 2 };

struct DispatchCall {
  static constexpr unsigned kMostThreads = 256;  ///< of a block
  static constexpr unsigned kBlocks = 4;         ///< of so many threads, which fit on a multiprocessor

  uint32_t halves, tokens;
  const void* x;           ///< [tokens][hidden], of elements as they travel where x_scales are given
  const int64_t* experts;  ///< [tokens][topk]
  const float* weights;    ///< [tokens][topk]; null: all 1
  void* rows;              ///< [local][capacity][hidden]
  void* scales;           ///< [local][groups][capacity] floats, or [local][groups / 4][capacity] of four exponents each
  int32_t* counts;        ///< [local][n]
  int32_t* totals;        ///< [local], or null
  int64_t* ranges;        ///< [local][n], or null
  int32_t* sources;       ///< [local][capacity], or null
  const float* x_scales;  ///< [tokens][groups], of x that is scaled already; else null
  Members members;
};

struct CombineCall {
  static constexpr unsigned kMostThreads = 448, kBlocks = 2;  ///< as in DispatchCall

  uint32_t halves, tokens;
  const void* rows;      ///< [local][capacity][hidden]
  void* out;             ///< [tokens][hidden]
  const float* weights;  ///< [tokens][topk], where they are late
  uint32_t repeat;       ///< combines of this dispatch before; more than 0 only where weights are late
  Members members;
};

/// A change of the mask, a look at it, or a meeting.
struct MaskCall {
  Members members;
  uint32_t meets;         ///< 1: the members wait for each other
  uint64_t set, cleared;  ///< members that are masked from here on, or no longer
  int32_t* masked;        ///< [n]: result, or null
};

}  // namespace railshmem::moe

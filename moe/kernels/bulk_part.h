// SPDX-License-Identifier: BSD-3-Clause
// What the kernels for many tokens share. A warp moves a row: of each block some warps send, and the others receive.
#pragma once

#include "moe/kernels/bulk.h"
#include "moe/kernels/part.h"

namespace railshmem::moe::kernels {

/// Of all blocks together: as many as fill the links (docs/decisions/0079-experts-many-tokens.md).
inline constexpr uint32_t kSendingWarps = 1056;

/// The calling warp's part of a call. All blocks must run at once: warps that receive wait for other members' warps.
class BulkPart : public Part {
 public:
  using Kind = BulkLayout::Kind;

  RAILSHMEM_KERNEL BulkPart(const Members& members, uint64_t row_nbytes, const BulkRoute& route, DeviceCall call,
                            Kind kind)
      : Part(members, call, kSend | kReceive, Sharing::none),
        route_(route),
        places_(members.shape.n, members.shape.max_tokens, row_nbytes),
        kind_(kind),
        lane_(threads::lane()),
        lanes_(threads::warp_size()) {
    const uint32_t all = (static_cast<uint32_t>(Part::threads()) + threads::kWarp - 1) / threads::kWarp;
    const uint32_t senders = senders_of(all), warp = static_cast<uint32_t>(thread()) / threads::kWarp;
    alone_ = all == 1;
    sends_ = alone_ || warp < senders;
    const uint32_t mine = sends_ ? senders : all - senders;
    first_ = threads::block_in_row() * mine + (sends_ ? warp : warp - senders);
    step_ = threads::blocks_in_row() * mine;
    number_ = portable::load_relaxed(this->mine<uint64_t>(BulkLayout::number(kind))) + 1;
  }

  /// Sending warps of a block with so many.
  RAILSHMEM_KERNEL static uint32_t senders_of(uint32_t all) {
    const uint32_t half = (all + 1) / 2, wanted = kSendingWarps / threads::blocks_in_row();
    return wanted < 1 ? 1 : wanted < half ? wanted : half;
  }
  RAILSHMEM_KERNEL bool warp_sends() const { return sends_; }
  RAILSHMEM_KERNEL bool warp_receives() const { return alone_ || !sends_; }
  /// The first row or token of the calling warp, and how many there are until the next one.
  RAILSHMEM_KERNEL uint32_t first() const { return first_; }
  RAILSHMEM_KERNEL uint32_t step() const { return step_; }
  RAILSHMEM_KERNEL uint64_t number() const { return number_; }
  RAILSHMEM_KERNEL Kind kind() const { return kind_; }
  RAILSHMEM_KERNEL uint32_t lane() const { return lane_; }
  RAILSHMEM_KERNEL uint32_t lanes() const { return lanes_; }
  RAILSHMEM_KERNEL const BulkLayout& places() const { return places_; }
  RAILSHMEM_KERNEL uint32_t row_from(int32_t m) const { return static_cast<uint32_t>(route_.begins[m]); }
  RAILSHMEM_KERNEL uint32_t count_from(int32_t m) const { return row_from(m + 1) - row_from(m); }
  /// The token's number at member m, or -1. A number that nobody has room for ends the job.
  RAILSHMEM_KERNEL int32_t number_at(uint32_t t, int32_t m) const {
    const int32_t i = route_.numbers[uint64_t{t} * static_cast<uint32_t>(n()) + static_cast<uint32_t>(m)];
    if (i < shape().max_tokens) return i < 0 ? -1 : i;
    fail(ChannelStatus::bad_argument, i, reinterpret_cast<const void*>(uint64_t{t}));
    return -1;
  }
  /// Whether the rows that come have room. All threads get one answer; one says what is wrong.
  RAILSHMEM_KERNEL bool has_room() const {
    if (row_from(n()) <= route_.room) return true;
    if (thread() == 0 && threads::block_in_row() == 0)
      fail(ChannelStatus::bad_argument, -1, reinterpret_cast<const void*>(uint64_t{row_from(n())}));
    return false;
  }

  /// Calls with(member, i) for the rows of other members that this warp takes, one of each member in turn.
  template <class With>
  RAILSHMEM_KERNEL void for_rows(const With& with) {
    if (n() == 1) return;
    uint32_t most = 0;
    RAILSHMEM_NO_UNROLL
    for (int32_t m = 0; m < n(); ++m)
      if (m != me() && count_from(m) > most) most = count_from(m);
    const auto others = static_cast<uint32_t>(n() - 1);
    RAILSHMEM_NO_UNROLL
    for (uint64_t k = first_; k < uint64_t{most} * others; k += step_) {
      const int32_t m = after(1 + static_cast<int32_t>(k % others));
      const auto i = static_cast<uint32_t>(k / others);
      if (i < count_from(m)) with(m, i);
    }
  }

  /// Waits until all members are done with the call before this one, whose rows lie where this one's go. The warp.
  RAILSHMEM_KERNEL void await_done() {
    for_each_member([this](int32_t m) {
      if (m != me()) await_done_of(m);
    });
  }
  /// Waits for row i of member m. Returns its token's number there. Every lane waits, so that they need not meet.
  RAILSHMEM_KERNEL int32_t await_row(int32_t m, uint32_t i) {
    return BulkWord::token(await(mine<uint64_t>(places_.word(kind_, m, i)), BulkWord::of(number_, 0), m));
  }
  /// Says that the row of member s's token t is there. Behind a meeting of the warp and a release_fence().
  RAILSHMEM_KERNEL void tell_row(int32_t to, int32_t s, uint32_t i, uint32_t t) const {
    portable::store_fenced(theirs<uint64_t>(to, places_.word(kind_, s, i)), BulkWord::of(number_, t));
  }
  /// Waits for row i that member m sends back.
  RAILSHMEM_KERNEL void await_row_back(int32_t m, uint32_t i) { await_row(m, i); }
  /// That row.
  RAILSHMEM_KERNEL const Unit* row_back(int32_t m, uint32_t i) const {
    return mine<Unit>(places_.row(BulkLayout::kCombine, m, i));
  }
  /// Whether this PE stores into the member's memory by itself.
  RAILSHMEM_KERNEL static constexpr bool is_near(int32_t) { return true; }

  /// The last block of all ends the call for this member. The whole block.
  RAILSHMEM_KERNEL void close() const {
    threads::sync_block();
    if (thread() == 0 && end()) for_each_member([this](int32_t m) { tell_done(m); });
  }

 protected:
  /// One thread of each block, at its end. True for that of the last block: its member is done, and says so behind
  /// this.
  RAILSHMEM_KERNEL bool end() const {
    auto* const ended = mine<uint64_t>(BulkLayout::ended(kind_));
    portable::release_fence();  // what the block has read comes before the members' next stores
    if (portable::fetch_add_relaxed(ended, 1) + 1 != threads::blocks_in_row()) return false;
    portable::store_relaxed(ended, uint64_t{0});
    portable::store_relaxed(mine<uint64_t>(BulkLayout::number(kind_)), number_);
    portable::release_fence();
    return true;
  }
  RAILSHMEM_KERNEL void tell_done(int32_t m) const {
    portable::store_fenced(theirs<uint64_t>(m, BulkLayout::done(kind_, me())), number_);
  }
  RAILSHMEM_KERNEL void await_done_of(int32_t m) { await(mine<uint64_t>(BulkLayout::done(kind_, m)), number_ - 1, m); }
  template <class With>
  RAILSHMEM_KERNEL void for_each_member(const With& with) const {
    RAILSHMEM_NO_UNROLL
    for (int32_t m = 0; m < n(); ++m) with(m);
  }

 private:
  const BulkRoute& route_;
  const BulkLayout places_;
  const Kind kind_;
  const uint32_t lane_, lanes_;
  uint32_t first_, step_;
  uint64_t number_;
  bool sends_, alone_;
};

/// Units of a row that a lane has in hand at once.
constexpr uint32_t kBulkInHand = 4;

/// The calling lane's units u, u + lanes and so on of a row, loaded at once.
template <uint32_t kCount>
struct Units {
  Unit at[kCount];
  RAILSHMEM_KERNEL Units(const BulkPart& part, const Unit* row, uint32_t u) {
    RAILSHMEM_UNROLL
    for (uint32_t j = 0; j < kCount; ++j) at[j] = copying::load(row + u + j * part.lanes());
  }
  RAILSHMEM_KERNEL void store(const BulkPart& part, Unit* row, uint32_t u) const {
    RAILSHMEM_UNROLL
    for (uint32_t j = 0; j < kCount; ++j) copying::store(row + u + j * part.lanes(), at[j]);
  }
};

/// Calls with(u, Count<kCount>()) for the calling lane's units of a row: kBulkInHand at once, and the rest one by one.
template <uint32_t kCount>
struct Count {};
template <class With>
RAILSHMEM_KERNEL inline void for_units(const BulkPart& part, uint32_t units, const With& with) {
  uint32_t u = part.lane();
  RAILSHMEM_NO_UNROLL
  for (; u + (kBulkInHand - 1) * part.lanes() < units; u += kBulkInHand * part.lanes()) with(u, Count<kBulkInHand>());
  RAILSHMEM_NO_UNROLL
  for (; u < units; u += part.lanes()) with(u, Count<1>());
}
RAILSHMEM_KERNEL inline void copy_units(const BulkPart& part, Unit* to, const Unit* from, uint32_t units) {
  for_units(part, units,
            [&]<uint32_t kCount>(uint32_t u, Count<kCount>) { Units<kCount>(part, from, u).store(part, to, u); });
}

}  // namespace railshmem::moe::kernels

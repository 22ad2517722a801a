// SPDX-License-Identifier: BSD-3-Clause
// What the kernels of dispatch and combine share: memory of the members, waits that end, and what has been counted.
#pragma once

#include "moe/kernels/call.h"
#include "shmem/detail/copy.h"
#include "shmem/detail/threads.h"
#include "shmem/device/calls/define.h"
#include "shmem/device/sync.h"

namespace railshmem::moe::kernels {

using Unit = copying::Bytes16;

/// Shared memory of a block.
struct Shared {
  uint32_t count[kMostExperts];  ///< sending: tokens for each expert so far
  uint32_t begin[kMostExperts];  ///< receiving: [local expert][source] first row of the source's tokens
  uint32_t tokens[kMostMembers];
  uint32_t most[kMostHidden / kScaled];  ///< sending: bits of the largest channel of each group so far
  int32_t expert[kMostTopk];             ///< of the token in hand; -1: none
  float weight[kMostTopk];               ///< combine: of the token's entries, where weights are late
  int32_t member[kMostTopk];             ///< of that expert
  uint64_t lost;  ///< of MaskingPart: members whose word some thread of the block has not seen, as bits
  uint32_t skipped[kMostMembers];                         ///< of MaskingPart: sources that get no sums
  alignas(kUnit) uint64_t entries[kMostTopk];             ///< receiving: of the token in hand
  alignas(kUnit) uint32_t scales[kMostHidden / kScaled];  ///< of the token in hand
};

RAILSHMEM_KERNEL inline void add_one(uint32_t* in_shared) {
#if defined(__CUDA_ARCH__)
  atomicAdd(in_shared, 1u);
#else
  __atomic_fetch_add(in_shared, 1u, __ATOMIC_RELAXED);
#endif
}
RAILSHMEM_KERNEL inline void raise_to(uint32_t* in_shared, uint32_t value) {
#if defined(__CUDA_ARCH__)
  atomicMax(in_shared, value);
#else
  uint32_t old = __atomic_load_n(in_shared, __ATOMIC_RELAXED);
  while (old < value &&
         !__atomic_compare_exchange_n(in_shared, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}
RAILSHMEM_KERNEL inline float float_of(uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
#endif
}
RAILSHMEM_KERNEL inline uint32_t bits_of(float value) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(value);
#else
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
#endif
}

/// The elements that a unit holds.
template <class Elements>
RAILSHMEM_KERNEL inline Elements of_unit(const Unit& unit) {
  static_assert(sizeof(Elements) == sizeof(Unit));
  Elements elements;
  memcpy(&elements, &unit, sizeof elements);
  return elements;
}

/// Waits for a word that is not there yet. Short waits do not come here, so what it looks at costs them nothing.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline uint64_t await_late(const uint64_t* word, uint64_t at_least,
                                                                  DeviceCall call, int pe) {
  const WorldView& world = device::this_world();
  const ChannelStatus status = device::await_number_long(world, word, at_least);
  if (status != ChannelStatus::ok) device::finish(world, call, status, pe, word);
  return portable::load_relaxed(word);
}

/// As await_late(), for a word of Numbered. Returns it, or anything after a failure.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline uint64_t await_numbered_late(const uint64_t* word, uint64_t number,
                                                                           DeviceCall call, int pe) {
  const WorldView& world = device::this_world();
  device::Waiter waiter(device::error_of(world), device::Deadline{world.timeout_ns});
  uint64_t found = portable::load_relaxed(word);
  while (!Numbered::is_of(number, found)) {
    const ChannelStatus status = waiter.turn();
    if (status != ChannelStatus::ok) {
      device::finish(world, call, status, pe, word);
      break;
    }
    found = portable::load_relaxed(word);
  }
  return found;
}

/// Few tokens leave blocks over: 2^shift blocks share each token, of which the calling one is number `mine`.
struct Shares {
  uint32_t shift, mine;

  /// What this block has of `all`: from begin() to end(). Begins are even, so that two neighbours have one block.
  RAILSHMEM_KERNEL uint32_t begin(uint32_t all) const { return (all + 1) / 2 * mine >> shift << 1; }
  RAILSHMEM_KERNEL uint32_t end(uint32_t all) const {
    return mine + 1 == 1u << shift ? all : Shares{shift, mine + 1}.begin(all);
  }
};

/// How blocks share the two halves of a call: each does both, one behind the other, or some send while others receive.
enum class Sharing { none, halves };

/// The calling block's part of a call. All blocks must run at once: those that receive wait for those that send.
class Part {
 public:
  static constexpr bool kMasks = false;  ///< MaskingPart goes on without members
  static constexpr bool kFar = false;    ///< FarFewPart has members on other nodes

  RAILSHMEM_KERNEL Part(const Members& members, DeviceCall call, uint32_t halves, Sharing sharing)
      : members_(members), layout_(members.shape), call_(call), halves_(halves) {
    const uint32_t all = threads::blocks_in_row(), senders = all / 2;
    block_ = threads::block_in_row();
    blocks_ = all;
    if (sharing == Sharing::none || halves != (kSend | kReceive) || senders == 0) return;
    halves_ = block_ < senders ? kSend : kReceive;
    blocks_ = block_ < senders ? senders : all - senders;
    if (block_ >= senders) block_ -= senders;
  }

  RAILSHMEM_KERNEL bool sends() const { return (halves_ & kSend) != 0; }
  RAILSHMEM_KERNEL bool receives() const { return (halves_ & kReceive) != 0; }
  /// Among the blocks that do the calling block's half.
  RAILSHMEM_KERNEL uint32_t block() const { return block_; }
  RAILSHMEM_KERNEL uint32_t blocks() const { return blocks_; }

  RAILSHMEM_KERNEL const Shape& shape() const { return members_.shape; }
  RAILSHMEM_KERNEL const Layout& layout() const { return layout_; }
  RAILSHMEM_KERNEL int32_t n() const { return members_.shape.n; }
  RAILSHMEM_KERNEL int32_t me() const { return members_.me; }
  /// The member `steps` behind this one: not all send to one member first.
  RAILSHMEM_KERNEL int32_t after(int32_t steps) const {
    const int32_t sum = members_.me + steps;
    return sum < n() ? sum : sum - n();
  }
  template <class T>
  RAILSHMEM_KERNEL T* theirs(int32_t member, uint64_t offset) const {
    return reinterpret_cast<T*>(members_.memory[member] + offset);
  }
  template <class T>
  RAILSHMEM_KERNEL T* mine(uint64_t offset) const {
    return theirs<T>(members_.me, offset);
  }

  /// Whether the member is on this node, so that it gets packets.
  RAILSHMEM_KERNEL static bool is_near(int32_t) { return true; }
  // Where a token is. Members on other nodes have other places, see FarFewPart.
  /// What source s calls the token.
  RAILSHMEM_KERNEL uint32_t number_of_token(uint64_t, int32_t, uint32_t t) const { return t; }
  /// Sums for source s's token, and those that member m has made for a token of this one.
  template <class T>
  RAILSHMEM_KERNEL T* sums_for(int32_t s, uint32_t t) const {
    return theirs<T>(s, layout_.sums(me(), t));
  }
  template <class T>
  RAILSHMEM_KERNEL const T* sums_from(int32_t m, uint32_t t) const {
    return mine<T>(layout_.sums(m, t));
  }

  /// Number of the last dispatch that this member has sent.
  RAILSHMEM_KERNEL uint64_t epoch() const { return portable::load_relaxed(mine<uint64_t>(Layout::kEpoch)); }

  /// Says that this block, the whole of it, has read the number. Returns how many had before.
  RAILSHMEM_KERNEL uint64_t end() const { return portable::fetch_add_relaxed(mine<uint64_t>(Layout::kEnded), 1); }
  /// The last block that has read the number of the last dispatch sets the new one. `before`: what end() returned.
  RAILSHMEM_KERNEL void close(uint64_t before, uint64_t epoch) const {
    if (before + 1 != threads::blocks_in_row()) return;
    portable::store_relaxed(mine<uint64_t>(Layout::kEnded), uint64_t{0});
    portable::store_relaxed(mine<uint64_t>(Layout::kEpoch), epoch);
  }

  /// The members that are masked, as bits.
  RAILSHMEM_KERNEL static uint64_t masked() { return 0; }

  /// Waits for a word that a member stores. Returns the word; after a failure, which ends the job, anything. Lanes of a
  /// warp that wait for one word together cost one load. kOrders: the word says that other memory has been written.
  template <bool kOrders = true>
  RAILSHMEM_KERNEL uint64_t await(const uint64_t* word, uint64_t at_least, int32_t from) {
    uint64_t found = 0;
    RAILSHMEM_NO_UNROLL
    for (int turn = 0; turn < device::kShortTurns; ++turn) {
      // acquire: pairs with the fence before the store; without it what the word announces could still look old.
      found = kOrders ? portable::load_acquire(word) : portable::load_relaxed(word);
      if (found >= at_least) return found;
    }
    if (!well_) return found;
    found = await_late(word, at_least, call_, members_.pe[from]);
    well_ = found >= at_least;
    return found;
  }
  /// Waits for a word of Numbered and returns it; anything after a failure. The word carries its data itself, so
  /// nothing else is ordered.
  RAILSHMEM_KERNEL uint64_t await_numbered(const uint64_t* word, uint64_t number, int32_t from, Shared&) const {
    RAILSHMEM_NO_UNROLL
    for (int turn = 0; turn < device::kShortTurns; ++turn) {
      const uint64_t found = portable::load_relaxed(word);
      if (Numbered::is_of(number, found)) return found;
    }
    return await_numbered_late(word, number, call_, members_.pe[from]);
  }
  RAILSHMEM_KERNEL void fail(ChannelStatus status, int pe, const void* about) const {
    device::finish(device::this_world(), call_, status, pe, about);
  }

  /// Learns how many tokens each source has for each expert here, and where an expert's rows of a source begin; one
  /// block writes it down for the program. The whole block.
  RAILSHMEM_KERNEL void learn_counts(uint64_t epoch, Shared& shared, const DispatchCall& call) {
    const int32_t local = shape().local(), words = n() * (local + 1);
    RAILSHMEM_NO_UNROLL
    for (int32_t i = thread(); i < words; i += threads()) {
      const int32_t s = i / (local + 1), e = i % (local + 1);
      const uint64_t word = await<false>(mine<uint64_t>(layout_.count(epoch, s, e)), Word::count(epoch, 0), s);
      (e == local ? shared.tokens[s] : shared.begin[e * n() + s]) = Word::tokens(word);
      if (e == local && block_ == 0) *mine<uint32_t>(layout_.tokens(s)) = Word::tokens(word);
    }
    note_counts(shared, call, local);
  }
  /// What learn_counts() does behind the waits. The whole block.
  RAILSHMEM_KERNEL void note_counts(Shared& shared, const DispatchCall& call, int32_t local) const {
    threads::sync_block();
    RAILSHMEM_NO_UNROLL
    for (int32_t e = thread(); e < local; e += threads()) {
      uint32_t before = 0;
      RAILSHMEM_NO_UNROLL
      for (int32_t s = 0; s < n(); ++s) {
        const uint32_t count = shared.begin[e * n() + s];
        shared.begin[e * n() + s] = before;
        if (block_ == 0) {
          call.counts[e * n() + s] = static_cast<int32_t>(count);
          if (call.ranges != nullptr) call.ranges[e * n() + s] = int64_t{before} << 32 | int64_t{count};
        }
        before += count;
      }
      if (block_ == 0 && call.totals != nullptr) call.totals[e] = static_cast<int32_t>(before);
    }
    threads::sync_block();
  }

  /// Tokens of all sources, and the most of any. Behind learn_counts() or learn_tokens().
  struct Tokens {
    uint32_t all, most;
  };
  RAILSHMEM_KERNEL Tokens tokens(const Shared& shared) const {
    Tokens tokens{};
    RAILSHMEM_NO_UNROLL
    for (int32_t s = 0; s < n(); ++s) {
      tokens.all += shared.tokens[s];
      if (shared.tokens[s] > tokens.most) tokens.most = shared.tokens[s];
    }
    return tokens;
  }

  /// Learns how many tokens each source had in the dispatch before. The whole block.
  RAILSHMEM_KERNEL void learn_tokens(Shared& shared) const {
    RAILSHMEM_NO_UNROLL
    for (int32_t s = thread(); s < n(); s += threads()) shared.tokens[s] = *mine<uint32_t>(layout_.tokens(s));
    threads::sync_block();
  }

  /// The row of an entry among all rows here.
  RAILSHMEM_KERNEL uint32_t row_of(uint32_t place, int32_t source, const Shared& shared) const {
    const uint32_t e = Entry::expert(place);
    return e * static_cast<uint32_t>(shape().capacity()) +
           shared.begin[e * static_cast<uint32_t>(n()) + static_cast<uint32_t>(source)] + Entry::rank(place);
  }

  /// Calls with(source, token) for the tokens that this block takes of all sources', in an order that is equal for all
  /// threads of the block. `first`: steps to the source whose tokens come first. Blocks of one share take the same
  /// ones.
  template <class With>
  RAILSHMEM_KERNEL void for_tokens(const Shared& shared, int32_t first, const Shares& shares, const With& with) const {
    uint32_t next = block_ >> shares.shift;
    const uint32_t step = blocks_ >> shares.shift;
    if (next >= step) return;
    RAILSHMEM_NO_UNROLL
    for (int32_t i = 0; i < n(); ++i) {
      const int32_t s = after((first + i) % n());
      const uint32_t tokens = shared.tokens[s];
      RAILSHMEM_NO_UNROLL
      for (; next < tokens; next += step) with(s, next);
      next -= tokens;
    }
  }
  /// Of so many tokens in all. With more than 4 a block would have too little to do.
  RAILSHMEM_KERNEL Shares shares_of(uint32_t tokens) const {
    const uint32_t shift = 4 * tokens <= blocks_ ? 2 : 2 * tokens <= blocks_ ? 1 : 0;
    return {shift, block_ & ((1u << shift) - 1)};
  }

  RAILSHMEM_KERNEL static int32_t thread() { return static_cast<int32_t>(threads::thread_in_row()); }
  RAILSHMEM_KERNEL static int32_t threads() { return static_cast<int32_t>(threads::row_size()); }

 protected:
  const Members& members_;
  const Layout layout_;
  const DeviceCall call_;

 private:
  uint32_t halves_, block_, blocks_;
  bool well_ = true;
};

/// Some entries of a token, loaded at once.
template <uint32_t kCount>
struct Entries {
  uint64_t at[kCount];
  RAILSHMEM_KERNEL explicit Entries(const uint64_t* from) {
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kCount; i += 2) {
      const Unit two = copying::load(reinterpret_cast<const Unit*>(from + i));
      at[i] = two.lo;
      at[i + 1] = two.hi;
    }
  }
};

}  // namespace railshmem::moe::kernels

// SPDX-License-Identifier: BSD-3-Clause
// The part of a call of few tokens whose team is on several nodes. Members of this node have memory here, and get
// tokens and sums as ever. For each other one tokens and sums are packed in this member's memory, and go in chunks.
#pragma once

#include "moe/kernels/few_far.h"
#include "moe/kernels/masking_part.h"
#include "moe/kernels/packets.h"
#include "moe/kernels/puts.h"

namespace railshmem::moe::kernels {

struct FarShared : Shared {
  uint32_t slot[kMostMembers];  ///< of the token in hand, at members on other nodes
  bool last;                    ///< this block is the last one to come
};

/// Base: Part, or MaskingPartOf<true>. With masks nothing is put to a masked member, and what blocks count is counted
/// for it nevertheless: a chunk that some block fills must be found empty by the next call.
template <class Base>
class FarFewPartOf : public Base {
 public:
  static constexpr bool kFar = true;
  using Base::after, Base::await, Base::block, Base::blocks, Base::kMasks, Base::me, Base::n, Base::note_counts,
      Base::sends, Base::shape, Base::thread, Base::threads;

  RAILSHMEM_KERNEL FarFewPartOf(const Members& members, DeviceCall call, uint32_t halves, Sharing sharing,
                                const FarFewLayout& places, FarShared& shared)
      : Base(members, call, halves, sharing), far_(places), shared_(shared) {}

  RAILSHMEM_KERNEL const FarFewLayout& layout() const { return far_; }
  RAILSHMEM_KERNEL bool is_near(int32_t m) const { return members_.memory[m] != nullptr; }
  template <class T>
  RAILSHMEM_KERNEL T* mine(uint64_t offset) const {
    return Base::template mine<T>(offset);
  }

  // Where a token is. At other nodes and from there it goes by its slot.
  RAILSHMEM_KERNEL uint32_t number_of_token(uint64_t epoch, int32_t s, uint32_t t) const {
    return is_near(s) ? t : *mine<uint32_t>(far_.row(epoch, s, t) + far_.number_in_row());
  }
  template <class T>
  RAILSHMEM_KERNEL T* sums_for(int32_t s, uint32_t t) const {
    return is_near(s) ? Base::template theirs<T>(s, far_.sums(me(), t)) : mine<T>(far_.packed_sums(box(s), t));
  }
  template <class T>
  RAILSHMEM_KERNEL const T* sums_from(int32_t m, uint32_t t) const {
    return mine<T>(far_.sums(m, is_near(m) ? t : slot_at(m, t)));
  }
  /// Late weights of this member's token t for a member on another node.
  RAILSHMEM_KERNEL uint64_t* weights_for(int32_t to, uint32_t t) const {
    return mine<uint64_t>(far_.packed_weights(box(to), slot_at(to, t)));
  }

  /// Gives the token in hand a slot at each of its members on other nodes. The whole block.
  RAILSHMEM_KERNEL void take_slots(uint32_t t, uint64_t mask) {
    for_far([&](int32_t to) {
      if ((mask >> to & 1) == 0) return;
      const auto slot = static_cast<uint32_t>(portable::fetch_add_relaxed(mine<uint64_t>(far_.taken(box(to))), 1));
      *mine<uint32_t>(far_.packed_row(box(to), slot) + far_.number_in_row()) = t;
      *mine<uint32_t>(far_.slot_of(box(to), t)) = slot;
      shared_.slot[to] = slot;
    });
    threads::sync_block();
  }
  /// Packs a pair of the token in hand for a member on another node, and an entry of it.
  RAILSHMEM_KERNEL void pack_pair(int32_t to, uint32_t i, const Pair& pair) const {
    auto* const there = mine<Unit>(far_.packed_row(box(to), shared_.slot[to]));
    RAILSHMEM_UNROLL
    for (uint32_t j = 0; j < Pair::kUnits; ++j) {
      const uint32_t u = i + j * far_.row_pairs();
      if (u < far_.row_units()) copying::store(there + u, pair.at[j]);
    }
  }
  RAILSHMEM_KERNEL void pack_entry(int32_t to, int32_t k, uint64_t entry) const {
    mine<uint64_t>(far_.packed_row(box(to), shared_.slot[to]) + far_.entries_in_row())[k] = entry;
  }
  /// The token in hand is packed for the members on other nodes. The whole block, behind a meeting.
  RAILSHMEM_KERNEL void tell_packed(uint64_t epoch, uint64_t mask) const {
    for_far([&](int32_t to) {
      if ((mask >> to & 1) == 0) return;
      portable::release_fence();
      const uint32_t rows = far_.chunk_rows(), chunk = shared_.slot[to] / rows;
      if (fills(box(to), chunk, rows)) send_rows(epoch, to, chunk, rows);
    });
  }
  /// A pair of a token from another node, and an entry of it.
  RAILSHMEM_KERNEL Pair pair_from(uint64_t epoch, int32_t s, uint32_t slot, uint32_t i) const {
    const auto* const from = mine<Unit>(far_.row(epoch, s, slot));
    Pair pair{};
    RAILSHMEM_UNROLL
    for (uint32_t j = 0; j < Pair::kUnits; ++j) {
      const uint32_t u = i + j * far_.row_pairs();
      if (u < far_.row_units()) pair.at[j] = copying::load(from + u);
    }
    return pair;
  }
  RAILSHMEM_KERNEL uint64_t entry_from(uint64_t epoch, int32_t s, uint32_t slot, uint32_t k) const {
    return mine<uint64_t>(far_.row(epoch, s, slot) + far_.entries_in_row())[k];
  }
  /// The block has packed its tokens. The last block sends the chunks that are not full: even if they are empty, they
  /// say that there are no more. The whole block.
  RAILSHMEM_KERNEL void send_rest(uint64_t epoch) const {
    if (!comes_last(far_.packed(), blocks())) return;
    for_far([&](int32_t to) {
      auto* const taken = mine<uint64_t>(far_.taken(box(to)));
      const auto tokens = static_cast<uint32_t>(portable::load_relaxed(taken));
      const uint32_t chunk = tokens / far_.chunk_rows();
      portable::store_relaxed(taken, uint64_t{0});
      portable::store_relaxed(mine<uint64_t>(far_.sent(box(to))), tokens);
      portable::store_relaxed(mine<uint64_t>(far_.filled(box(to), chunk)), uint64_t{0});
      send_rows(epoch, to, chunk, tokens % far_.chunk_rows());
    });
  }

  RAILSHMEM_KERNEL void pack_count(int32_t to, int32_t e, uint64_t word) const {
    if (e < shape().local()) *mine<uint64_t>(far_.packed_count(box(to), e)) = word;
  }
  /// The word behind the counts, `all`, is their signal. The whole block, behind a meeting.
  RAILSHMEM_KERNEL void send_counts(uint64_t epoch, uint64_t all) const {
    for_far([&](int32_t to) {
      put(to, far_.count(epoch, me(), 0), far_.packed_count(box(to), 0), 8 * static_cast<uint64_t>(shape().local()),
          far_.count(epoch, me(), shape().local()), all);
    });
  }
  /// As Part::learn_counts(). Tokens of other nodes come by slot, so they are not shared out by their number.
  RAILSHMEM_KERNEL void learn_counts(uint64_t epoch, Shared& shared, const DispatchCall& call) {
    if constexpr (kMasks) return Base::learn_counts(epoch, shared, call);
    const int32_t local = shape().local(), words = n() * (local + 1);
    RAILSHMEM_NO_UNROLL
    for (int32_t i = thread(); i < words; i += threads()) {
      const int32_t s = i / (local + 1), e = i % (local + 1);
      const bool near = is_near(s);
      uint64_t word = await(mine<uint64_t>(far_.count(epoch, s, near ? e : local)), Word::count(epoch, 0), s);
      if (!near && e < local) word = portable::load_relaxed(mine<uint64_t>(far_.count(epoch, s, e)));
      if (!near && e == local) word = 0;
      (e == local ? shared.tokens[s] : shared.begin[e * n() + s]) = Word::tokens(word);
      if (near && e == local && block() == 0) *mine<uint32_t>(Layout::tokens(s)) = Word::tokens(word);
    }
    note_counts(shared, call, local);
  }
  /// Calls with(source, slot) for the tokens from other nodes that this block takes, in an order that is equal for all
  /// threads of the block. Sources share the blocks among them, so that none waits for another one's chunks.
  template <class With>
  RAILSHMEM_KERNEL void for_slots(uint64_t epoch, const With& with) {
    uint32_t sources = 0, at = 0;
    RAILSHMEM_NO_UNROLL
    for (int32_t m = 0; m < n(); ++m) sources += is_near(m) ? 0 : 1;
    RAILSHMEM_NO_UNROLL
    for (int32_t i = 1; i < n(); ++i) {
      const int32_t s = after(i);
      if (is_near(s)) continue;
      const uint32_t source = at++;
      if (kMasks && shared_.skipped[s] != 0) continue;
      if (blocks() < sources) {
        if (source % blocks() == block()) slots_from(s, epoch, 0, 1, with);
      } else if (block() % sources == source) {
        slots_from(s, epoch, block() / sources, (blocks() - source + sources - 1) / sources, with);
      }
    }
  }

  /// Says that a combine has begun, where somebody waits for it: then all that say so are heard in turn, and a network
  /// without order cannot bring an old number behind a new one. With masks all members wait for it.
  RAILSHMEM_KERNEL void tell_begun(int32_t to, uint64_t number) const {
    if (kMasks || portable::load_relaxed(mine<uint64_t>(far_.sent(box(to)))) != 0 ||
        *mine<uint32_t>(Layout::tokens(to)) != 0)
      put(to, 0, 0, 0, Layout::begun(me()), number);
  }
  /// The last block that has packed late weights sends them. await_begin(member) is false for a masked one. The whole
  /// block.
  template <class AwaitBegin>
  RAILSHMEM_KERNEL void send_weights(uint64_t number, const AwaitBegin& await_begin) const {
    if (!comes_last(far_.weighed(), threads::blocks_in_row())) return;
    for_far([&](int32_t to) {
      const uint64_t tokens = portable::load_relaxed(mine<uint64_t>(far_.sent(box(to))));
      if (tokens == 0) return;
      if (!await_begin(to)) return;
      put(to, far_.weights(me(), 0), far_.packed_weights(box(to), 0),
          tokens * (far_.weights(me(), 1) - far_.weights(me(), 0)), far_.weights_word(me()), number);
    });
  }
  /// Loses the member where it is masked meanwhile.
  RAILSHMEM_KERNEL void await_weights(int32_t s, uint64_t number) {
    if (is_near(s)) return;
    [[maybe_unused]] const uint64_t word = await(mine<uint64_t>(far_.weights_word(s)), number, s);
    if constexpr (kMasks) {
      if (word < number) Base::lose(shared_, s);
    }
  }

  /// The sums for a slot of source s, which has so many, are packed. One thread, behind a meeting of the block.
  RAILSHMEM_KERNEL void tell_summed(int32_t s, uint32_t slot, uint32_t tokens, uint64_t number) const {
    const uint32_t chunk = slot / far_.sums_chunk_rows(), first = chunk * far_.sums_chunk_rows();
    const uint32_t rows = sums_in(chunk, tokens);
    portable::release_fence();
    if (!fills(box(s), chunk, rows)) return;
    put(s, far_.sums(me(), first), far_.packed_sums(box(s), first), rows * far_.sum_nbytes(),
        far_.sums_word(me(), chunk), ChunkWord::of(number, rows));
  }
  /// With masks: no rows, because the source is masked. The whole block.
  RAILSHMEM_KERNEL void skip_summed(int32_t s, uint32_t slot, uint32_t tokens) const {
    if (is_near(s) || thread() != 0) return;
    const uint32_t chunk = slot / far_.sums_chunk_rows();
    fills(box(s), chunk, sums_in(chunk, tokens));
  }
  /// Returns whether they are here; false where the member is masked meanwhile, or after a failure.
  RAILSHMEM_KERNEL bool await_sums(int32_t m, uint32_t t, uint64_t number) {
    const uint64_t least = ChunkWord::of(number, 0);
    return await(mine<uint64_t>(far_.sums_word(m, slot_at(m, t) / far_.sums_chunk_rows())), least, m) >= least;
  }

  /// Waits until what the block has put may be written again, so that the next kernel packs anew. The whole block.
  RAILSHMEM_KERNEL void finish_puts() const {
    threads::sync_block();
    if (!sends() || thread() != 0) return;
    if constexpr (kMasks)
      await_puts_patiently(members_, call_);
    else
      await_puts(call_);
  }

 private:
  using Base::call_, Base::members_;

  /// Number of a member on another node: how many steps it is behind the next one.
  RAILSHMEM_KERNEL uint32_t box(int32_t m) const {
    return static_cast<uint32_t>(m > me() ? m - me() - 1 : m - me() - 1 + n());
  }
  RAILSHMEM_KERNEL uint32_t slot_at(int32_t m, uint32_t t) const { return *mine<uint32_t>(far_.slot_of(box(m), t)); }
  /// Calls with(member) for the members on other nodes, the next ones first: a thread for each.
  template <class With>
  RAILSHMEM_KERNEL void for_far(const With& with) const {
    RAILSHMEM_NO_UNROLL
    for (int32_t i = 1 + thread(); i < n(); i += threads())
      if (!is_near(after(i))) with(after(i));
  }
  /// Rows of a chunk of sums for a source that has so many tokens.
  RAILSHMEM_KERNEL uint32_t sums_in(uint32_t chunk, uint32_t tokens) const {
    const uint32_t most = far_.sums_chunk_rows(), first = chunk * most;
    return tokens - first < most ? tokens - first : most;
  }
  /// From an offset of this member's memory to one of that of `to`. nbytes 0: the signal alone.
  RAILSHMEM_KERNEL void put(int32_t to, uint64_t dest, uint64_t source, uint64_t nbytes, uint64_t signal,
                            uint64_t value) const {
    if constexpr (kMasks) {
      if (has(Base::masked(), to)) return;
    }
    put_chunk(call_, members_.pe[to], mine<void>(dest), mine<void>(source), nbytes, mine<uint64_t>(signal), value);
  }
  RAILSHMEM_KERNEL void send_rows(uint64_t epoch, int32_t to, uint32_t chunk, uint32_t rows) const {
    const uint32_t first = chunk * far_.chunk_rows();
    put(to, far_.row(epoch, me(), first), far_.packed_row(box(to), first), rows * far_.row_nbytes(),
        far_.rows_word(epoch, me(), chunk), ChunkWord::of(epoch, rows));
  }
  /// Says that one more of the `rows` of a chunk is packed. True for the last one. Behind a fence.
  RAILSHMEM_KERNEL bool fills(uint32_t in_box, uint32_t chunk, uint32_t rows) const {
    auto* const filled = mine<uint64_t>(far_.filled(in_box, chunk));
    if (portable::fetch_add_relaxed(filled, 1) + 1 != rows) return false;
    portable::acquire_fence();
    portable::store_relaxed(filled, uint64_t{0});
    return true;
  }
  /// Whether this block is the last of all to come here. The whole block.
  RAILSHMEM_KERNEL bool comes_last(uint64_t count, uint32_t all) const {
    auto* const come = mine<uint64_t>(count);
    threads::sync_block();
    if (thread() == 0) {
      portable::release_fence();
      shared_.last = portable::fetch_add_relaxed(come, 1) + 1 == all;
      if (shared_.last) portable::store_relaxed(come, uint64_t{0});
      portable::acquire_fence();
    }
    threads::sync_block();
    return shared_.last;
  }
  /// As block `rank` of `step`.
  template <class With>
  RAILSHMEM_KERNEL void slots_from(int32_t s, uint64_t epoch, uint32_t rank, uint32_t step, const With& with) {
    uint32_t slot = rank, begin = 0, rows = 0;
    uint32_t chunk = 0;
    do {
      const uint64_t least = ChunkWord::of(epoch, 0);
      const uint64_t word = await(mine<uint64_t>(far_.rows_word(epoch, s, chunk++)), least, s);
      if constexpr (kMasks) {
        if (word < least) Base::lose(shared_, s);
        if (has(Base::agreed_losses(shared_), s)) break;
      }
      rows = word < least ? 0 : ChunkWord::rows(word);
      RAILSHMEM_NO_UNROLL
      for (; slot < begin + rows; slot += step) with(s, slot);
      begin += rows;
    } while (rows == far_.chunk_rows());
    if (rank == 0 && thread() == 0) *mine<uint32_t>(Layout::tokens(s)) = begin;
  }

  const FarFewLayout& far_;
  FarShared& shared_;
};
using FarFewPart = FarFewPartOf<Part>;
using FarMaskingPart = FarFewPartOf<MaskingPartOf<true>>;

}  // namespace railshmem::moe::kernels

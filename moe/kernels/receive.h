// SPDX-License-Identifier: BSD-3-Clause
// The receiving half of dispatch: a token that has come is copied to the rows of its experts here.
#pragma once

#include "moe/kernels/masking_part.h"
#include "moe/kernels/packets.h"

namespace railshmem::moe::kernels {

/// kScales: scales come behind the channels.
template <bool kScales, class Place>
class Receiving {
 public:
  RAILSHMEM_KERNEL Receiving(Place& part, const DispatchCall& call, Shared& shared, uint64_t epoch)
      : part_(part), call_(call), shared_(shared), epoch_(epoch), pairs_(part.layout().row_pairs()) {}

  /// The last block that has read the number of the last dispatch sets the new one. What it asks for comes while it
  /// waits for tokens.
  RAILSHMEM_KERNEL void run() {
    part_.learn_counts(epoch_, shared_, call_);
    const bool closes = (call_.halves & kSend) != 0 && Part::thread() == 0;
    const uint64_t ended = closes ? part_.end() : 0;
    shares_ = part_.shares_of(part_.tokens(shared_).all);
    part_.for_tokens(shared_, 0, shares_, [&](int32_t source, uint32_t t) { take_near(source, t); });
    shares_ = {0, 0};
    if constexpr (Place::kFar) part_.for_slots(epoch_, [&](int32_t source, uint32_t slot) { take_far(source, slot); });
    if (closes) part_.close(ended, epoch_);
  }

 private:
  /// All threads meet as often, whatever a wait has come to.
  RAILSHMEM_KERNEL void take_near(int32_t source, uint32_t t) {
    const auto* const word = part_.template mine<uint64_t>(part_.layout().token(epoch_, source, t));
    const auto* const packets = part_.template mine<Packet>(part_.layout().packets(epoch_, source, t));
    const auto take = [&](uint32_t i) { return Pair::take(part_, packets, pairs_, i, epoch_, source, shared_); };
    bool here = false;
    Pair pair;
    if (!Place::kMasks || !has(lost_, source)) {
      const uint64_t least = Word::token(epoch_, false), found = part_.template await<false>(word, least, source);
      here = Word::here(found);
      if constexpr (Place::kMasks) {
        if (found < least) Place::lose(shared_, source);
      }
      if (here) {
        if (first() < end()) pair = take(first());
        RAILSHMEM_NO_UNROLL
        for (uint32_t k = last(); k < part_.shape().entries(); k += step()) {
          const auto at = [&](uint32_t) { return packets + part_.layout().row_packets() + k; };
          shared_.entries[k] = take_packets<1>(part_, at, epoch_, source, shared_).data[0];
        }
      }
    }
    if constexpr (Place::kMasks) {
      lost_ |= Place::agreed_losses(shared_);
      here = here && !has(lost_, source);
    } else {
      threads::sync_block();
    }
    put(source, t, here, pair, take);
  }
  RAILSHMEM_KERNEL void take_far(int32_t source, uint32_t slot) {
    const auto take = [&](uint32_t i) { return part_.pair_from(epoch_, source, slot, i); };
    Pair pair;
    if (first() < end()) pair = take(first());
    RAILSHMEM_NO_UNROLL
    for (uint32_t k = last(); k < part_.shape().entries(); k += step())
      shared_.entries[k] = part_.entry_from(epoch_, source, slot, k);
    threads::sync_block();
    put(source, slot, true, pair, take);
  }

  /// Entries are here, and the thread's first pair; take(i) takes others.
  template <class Take>
  RAILSHMEM_KERNEL void put(int32_t source, uint32_t t, bool here, Pair pair, const Take& take) {
    RAILSHMEM_NO_UNROLL
    for (uint32_t i = first(); here && i < end();) {
      copy(source, i, pair);
      i += step();
      if (i < end()) pair = take(i);
    }
    if (shares_.mine == 0) note_rows(source, t, here);
    if constexpr (kScales) {
      threads::sync_block();
      if (here) put_scales(source);
    }
    threads::sync_block();
  }
  RAILSHMEM_KERNEL void copy(int32_t source, uint32_t i, const Pair& pair) {
    const uint32_t units = part_.shape().row_nbytes() / kUnit;
    if constexpr (kScales) {
      RAILSHMEM_UNROLL
      for (uint32_t j = 0; j < Pair::kUnits; ++j) {
        const uint32_t u = i + j * pairs_;
        if (u >= units && u < part_.layout().row_units())
          copying::store(reinterpret_cast<Unit*>(shared_.scales) + (u - units), pair.at[j]);
      }
    }
    RAILSHMEM_NO_UNROLL
    for (uint32_t from = 0; from < part_.shape().entries(); from += kEntriesAtOnce) {
      const Entries<kEntriesAtOnce> some(shared_.entries + from);
      RAILSHMEM_UNROLL
      for (uint32_t k = 0; k < kEntriesAtOnce; ++k) {
        const uint32_t place = Entry::place(some.at[k]);
        if (place == Entry::kNone) continue;
        Unit* const to = static_cast<Unit*>(call_.rows) + uint64_t{part_.row_of(place, source, shared_)} * units;
        RAILSHMEM_UNROLL
        for (uint32_t j = 0; j < Pair::kUnits; ++j)
          if (i + j * pairs_ < units) copying::store(to + (i + j * pairs_), pair.at[j]);
      }
    }
  }

  /// Notes the rows of the token's experts here for combine, one behind the other, and for the program whose they are.
  RAILSHMEM_KERNEL void note_rows(int32_t source, uint32_t t, bool here) {
    auto* const found = part_.template mine<uint64_t>(part_.layout().found(source, t));
    const uint32_t all = part_.shape().entries();
    RAILSHMEM_NO_UNROLL
    for (uint32_t i = last(); i < all; i += step()) {
      uint32_t before = 0, count = 0;
      RAILSHMEM_NO_UNROLL
      for (uint32_t from = 0; here && from < all; from += kEntriesAtOnce) {
        const Entries<kEntriesAtOnce> some(shared_.entries + from);
        RAILSHMEM_UNROLL
        for (uint32_t j = 0; j < kEntriesAtOnce; ++j) {
          if (Entry::place(some.at[j]) == Entry::kNone) continue;
          ++count;
          if (from + j < i) ++before;
        }
      }
      if (i >= count) found[i] = Entry::kNone;
      const uint64_t entry = here ? shared_.entries[i] : Entry::kNone;
      if (Entry::place(entry) == Entry::kNone) continue;
      const uint32_t row = part_.row_of(Entry::place(entry), source, shared_);
      found[before] = uint64_t{Entry::weight(entry)} << 32 | row;
      if (call_.sources != nullptr) call_.sources[row] = static_cast<int32_t>(part_.number_of_token(epoch_, source, t));
    }
  }

  /// Puts the token's scales beside the rows of its experts here.
  RAILSHMEM_KERNEL void put_scales(int32_t source) {
    constexpr uint32_t kPacked = 4;  // exponents in a word
    const bool packed = part_.shape().scaling == Scaling::exponents;
    const uint32_t words = packed ? part_.shape().groups() / kPacked : part_.shape().groups();
    RAILSHMEM_NO_UNROLL
    for (auto i = static_cast<uint32_t>(Part::thread()); i < words * part_.shape().entries(); i += step()) {
      const uint32_t place = Entry::place(shared_.entries[i / words]), g = i % words;
      if (place == Entry::kNone || !has_scale(packed ? kPacked * g : g)) continue;
      uint32_t word = 0;
      if (packed) {
        RAILSHMEM_UNROLL
        for (uint32_t j = 0; j < kPacked; ++j) word |= shared_.scales[kPacked * g + j] >> 23 << (8 * j);
      } else {
        word = shared_.scales[g];
      }
      const uint64_t row = part_.row_of(place, source, shared_), capacity = part_.shape().capacity();
      const uint64_t e = Entry::expert(place);
      static_cast<uint32_t*>(call_.scales)[(e * words + g) * capacity + (row - e * capacity)] = word;
    }
  }

  /// Whether the unit with a group's scale is one of this block's pairs.
  RAILSHMEM_KERNEL bool has_scale(uint32_t group) const {
    const uint32_t i = (part_.shape().row_nbytes() / kUnit + group / 4) % pairs_;
    return i >= shares_.begin(pairs_) && i < end();
  }

  // The pairs of a thread are first(), first() + step() and so on, before end(). First threads have most of them, so
  // entries are for the last ones.
  RAILSHMEM_KERNEL uint32_t first() const { return shares_.begin(pairs_) + static_cast<uint32_t>(Part::thread()); }
  RAILSHMEM_KERNEL uint32_t end() const { return shares_.end(pairs_); }
  RAILSHMEM_KERNEL static uint32_t step() { return static_cast<uint32_t>(Part::threads()); }
  RAILSHMEM_KERNEL static uint32_t last() { return step() - 1 - static_cast<uint32_t>(Part::thread()); }

  Place& part_;
  const DispatchCall& call_;
  Shared& shared_;
  const uint64_t epoch_;
  const uint32_t pairs_;
  Shares shares_{0, 0};
  uint64_t lost_ = 0;  ///< members, as bits; equal in all threads
};

}  // namespace railshmem::moe::kernels

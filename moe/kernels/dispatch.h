// SPDX-License-Identifier: BSD-3-Clause
// Dispatch: a token goes once to each member that has experts of it, and is copied there to the experts' rows.
#pragma once

#include "moe/kernels/masking_part.h"
#include "moe/kernels/payload.h"

namespace railshmem::moe::kernels {

/// Sends tokens. A block takes neighbouring tokens, so that it counts the tokens before its own once.
template <class Payload, class Place>
class Sending {
 public:
  RAILSHMEM_KERNEL Sending(Place& part, const DispatchCall& call, Shared& shared, uint64_t epoch)
      : part_(part), call_(call), shared_(shared), epoch_(epoch), masked_(part.masked()) {}

  RAILSHMEM_KERNEL void run() {
    const uint32_t each = (call_.tokens + part_.blocks() - 1) / part_.blocks();
    const uint32_t first = limited(uint64_t{part_.block()} * each), end = limited(uint64_t{first} + each);
    // All members wait for the counts, so they leave first, from the block that has the fewest tokens.
    if (part_.block() + 1 == part_.blocks()) tell_counts();
    RAILSHMEM_NO_UNROLL
    for (uint32_t t = first; t < end; ++t) {
      const typename Payload::Held held = Payload::load(part_, call_, t);
      take(t);
      const uint64_t mask = mask_of_token();
      if constexpr (Place::kFar) part_.take_slots(epoch_, t, mask);
      Payload::send(part_, call_, shared_, epoch_, t, held, mask);
      if (t == first) count(first);  // while the token is on its way
      send_entries(t, mask);
      threads::sync_block();
      tell(t, mask);
    }
    if constexpr (Place::kFar) part_.send_rest(epoch_);
  }

 private:
  RAILSHMEM_KERNEL int32_t topk() const { return part_.shape().topk; }
  RAILSHMEM_KERNEL int64_t expert_at(uint32_t t, int32_t k) const {
    return call_.experts[uint64_t{t} * static_cast<uint32_t>(topk()) + static_cast<uint32_t>(k)];
  }
  RAILSHMEM_KERNEL bool exists(int64_t expert) const { return expert >= 0 && expert < part_.shape().experts; }
  RAILSHMEM_KERNEL bool is_masked(int32_t member) const { return Place::kMasks && has(masked_, member); }
  /// Whether a token goes to the expert.
  RAILSHMEM_KERNEL bool goes(int64_t expert) const {
    return exists(expert) && !(Place::kMasks && is_masked(static_cast<int32_t>(expert) / part_.shape().local()));
  }
  /// Whether none of the token's first `end` experts is this one.
  RAILSHMEM_KERNEL bool is_new(uint32_t t, int32_t end, int64_t expert) const {
    RAILSHMEM_NO_UNROLL
    for (int32_t i = 0; i < end; ++i)
      if (expert_at(t, i) == expert) return false;
    return true;
  }
  /// Counts one token by expert; it reaches an expert once. Up to 8 experts take one load's time.
  RAILSHMEM_KERNEL void count_one(uint32_t t) {
    constexpr int32_t kAtOnce = 8;
    RAILSHMEM_NO_UNROLL
    for (int32_t first = 0; first < topk(); first += kAtOnce) {
      int64_t expert[kAtOnce];
      RAILSHMEM_UNROLL
      for (int32_t j = 0; j < kAtOnce; ++j) expert[j] = first + j < topk() ? expert_at(t, first + j) : -1;
      RAILSHMEM_UNROLL
      for (int32_t j = 0; j < kAtOnce; ++j) {
        bool counts = exists(expert[j]);
        RAILSHMEM_UNROLL
        for (int32_t i = 0; i < j; ++i) counts = counts && expert[i] != expert[j];
        if (counts && is_new(t, first, expert[j])) add_one(&shared_.count[expert[j]]);
      }
    }
  }

  RAILSHMEM_KERNEL uint32_t limited(uint64_t t) const {
    return t < call_.tokens ? static_cast<uint32_t>(t) : call_.tokens;
  }

  /// Counts the first `tokens` tokens by expert. The whole block.
  RAILSHMEM_KERNEL void count(uint32_t tokens) {
    RAILSHMEM_NO_UNROLL
    for (int32_t e = Part::thread(); e < part_.shape().experts; e += Part::threads()) shared_.count[e] = 0;
    threads::sync_block();
    RAILSHMEM_NO_UNROLL
    for (auto t = static_cast<uint32_t>(Part::thread()); t < tokens; t += static_cast<uint32_t>(Part::threads()))
      count_one(t);
    threads::sync_block();
  }

  /// Reads the token's experts and their weights, all at once.
  RAILSHMEM_KERNEL void take(uint32_t t) {
    threads::sync_block();
    RAILSHMEM_NO_UNROLL
    for (int32_t k = Part::thread(); k < topk(); k += Part::threads()) {
      const int64_t expert = expert_at(t, k);
      const uint64_t at = uint64_t{t} * static_cast<uint32_t>(topk()) + static_cast<uint32_t>(k);
      const float weight = call_.weights == nullptr ? 1.0F : call_.weights[at];
      if (!exists(expert) && expert != -1)
        part_.fail(ChannelStatus::bad_argument, static_cast<int>(expert), reinterpret_cast<const void*>(uint64_t{t}));
      shared_.expert[k] = goes(expert) ? static_cast<int32_t>(expert) : -1;
      shared_.member[k] = goes(expert) ? static_cast<int32_t>(expert) / part_.shape().local() : -1;
      shared_.weight[k] = weight;
    }
    threads::sync_block();
  }
  /// Whether the token in hand names its k-th expert, which there is, for the first time.
  RAILSHMEM_KERNEL bool leads(int32_t k) const {
    const int32_t expert = shared_.expert[k];
    RAILSHMEM_NO_UNROLL
    for (int32_t i = 0; i < k; ++i)
      if (shared_.expert[i] == expert) return false;
    return expert >= 0;
  }
  /// The members that have experts of the token in hand.
  RAILSHMEM_KERNEL uint64_t mask_of_token() const {
    uint64_t mask = 0;
    RAILSHMEM_NO_UNROLL
    for (int32_t k = 0; k < topk(); ++k)
      if (shared_.member[k] >= 0) mask |= uint64_t{1} << shared_.member[k];
    return mask;
  }
  /// A weight stands with the first mention of its expert.
  RAILSHMEM_KERNEL float weight_of(int32_t k) const {
    float sum = 0;
    RAILSHMEM_NO_UNROLL
    for (int32_t i = k; i < topk(); ++i)
      if (shared_.expert[i] == shared_.expert[k]) sum += shared_.weight[i];
    return sum;
  }

  /// Which of the token's topk name the k-th one's expert, as bits.
  RAILSHMEM_KERNEL uint32_t mentions_of(int32_t k) const {
    uint32_t mentions = 0;
    RAILSHMEM_NO_UNROLL
    for (int32_t i = k; i < topk(); ++i)
      if (shared_.expert[i] == shared_.expert[k]) mentions |= uint32_t{1} << i;
    return mentions;
  }

  RAILSHMEM_KERNEL void send_entries(uint32_t t, uint64_t mask) {
    const auto entries = static_cast<int32_t>(part_.shape().entries());
    RAILSHMEM_NO_UNROLL
    for (int32_t i = Part::thread(); i < part_.n() * entries; i += Part::threads()) {
      const int32_t to = i / entries, k = i % entries;
      if ((mask >> to & 1) == 0) continue;
      const bool theirs = k < topk() && shared_.member[k] == to && leads(k);
      const int32_t expert = theirs ? shared_.expert[k] : 0;
      part_.entries_for(to, epoch_, t)[k] =
          theirs ? Entry::of(static_cast<uint32_t>(expert - to * part_.shape().local()), shared_.count[expert],
                             part_.shape().late_weights != 0 ? mentions_of(k) : bits_of(weight_of(k)))
                 : Entry::kNone;
    }
  }

  /// Behind a meeting of the block, all of whose stores the fence orders.
  RAILSHMEM_KERNEL void tell(uint32_t t, uint64_t mask) {
    if (Part::thread() == 0) *part_.template mine<uint64_t>(part_.layout().mask(t)) = mask;
    if (Part::thread() < part_.n()) portable::release_fence();
    RAILSHMEM_NO_UNROLL
    for (int32_t i = Part::thread(); i < part_.n(); i += Part::threads()) {
      const int32_t to = part_.after(i);
      if constexpr (Place::kFar) {
        if (!part_.is_near(to)) {
          if ((mask >> to & 1) != 0) part_.tell_packed(epoch_, to);
          continue;
        }
      }
      if (is_masked(to)) continue;
      portable::store_fenced(part_.template theirs<uint64_t>(to, part_.layout().token(epoch_, part_.me(), t)),
                             Word::token(epoch_, (mask >> to & 1) != 0));
    }
    RAILSHMEM_NO_UNROLL
    for (int32_t k = Part::thread(); k < topk(); k += Part::threads())
      if (leads(k)) add_one(&shared_.count[shared_.expert[k]]);
  }

  /// The words carry the counts themselves, so they need no fence. Those for other nodes travel together.
  RAILSHMEM_KERNEL void tell_counts() {
    count(call_.tokens);
    const int32_t local = part_.shape().local();
    RAILSHMEM_NO_UNROLL
    for (int32_t i = Part::thread(); i < part_.n() * (local + 1); i += Part::threads()) {
      const int32_t to = part_.after(i / (local + 1)), e = i % (local + 1);
      if (is_masked(to)) continue;
      const uint32_t tokens = e == local ? call_.tokens : shared_.count[to * local + e];
      if constexpr (Place::kFar) {
        if (!part_.is_near(to)) {
          part_.pack_count(to, e, Word::count(epoch_, tokens));
          continue;
        }
      }
      portable::store_relaxed(part_.template theirs<uint64_t>(to, part_.layout().count(epoch_, part_.me(), e)),
                              Word::count(epoch_, tokens));
    }
    threads::sync_block();
    if constexpr (Place::kFar) part_.send_counts(epoch_, Word::count(epoch_, call_.tokens));
  }

  Place& part_;
  const DispatchCall& call_;
  Shared& shared_;
  const uint64_t epoch_;
  const uint64_t masked_;  ///< members, as bits
};

/// Notes the rows of a token's experts here for combine, one behind the other, and for the program whose they are.
template <class Place>
RAILSHMEM_KERNEL inline void note_rows(const Place& part, const DispatchCall& call, const Shared& shared,
                                       uint64_t epoch, int32_t source, uint32_t t, bool here) {
  const uint64_t* const entries = part.entries_from(epoch, source, t);
  auto* const found = part.template mine<uint64_t>(part.layout().found(source, t));
  const uint32_t all = part.shape().entries();
  RAILSHMEM_NO_UNROLL
  for (auto i = static_cast<uint32_t>(Part::thread()); i < all; i += static_cast<uint32_t>(Part::threads())) {
    uint32_t before = 0, count = 0;
    RAILSHMEM_NO_UNROLL
    for (uint32_t first = 0; here && first < all; first += kEntriesAtOnce) {
      const Entries<kEntriesAtOnce> some(entries + first);
      RAILSHMEM_UNROLL
      for (uint32_t j = 0; j < kEntriesAtOnce; ++j) {
        if (Entry::place(some.at[j]) == Entry::kNone) continue;
        ++count;
        if (first + j < i) ++before;
      }
    }
    if (i >= count) found[i] = Entry::kNone;
    const uint64_t entry = here ? entries[i] : Entry::kNone;
    if (Entry::place(entry) == Entry::kNone) continue;
    const uint32_t row = part.row_of(Entry::place(entry), source, shared);
    found[before] = uint64_t{Entry::weight(entry)} << 32 | row;
    if (call.sources != nullptr) call.sources[row] = static_cast<int32_t>(part.number_of_token(epoch, source, t));
  }
}

/// The last block that has read the number of the last dispatch sets the new one. The calling thread's whole block has.
RAILSHMEM_KERNEL inline void close(const Part& part, uint64_t epoch) {
  auto* const ended = part.mine<uint64_t>(Layout::kEnded);
  if (portable::fetch_add_relaxed(ended, 1) + 1 != threads::blocks_in_row()) return;
  portable::store_relaxed(ended, uint64_t{0});
  portable::store_relaxed(part.mine<uint64_t>(Layout::kEpoch), epoch);
}

/// Copies each token that has come to the rows of its experts here.
template <class Payload, class Place>
RAILSHMEM_KERNEL inline void receive(Place& part, const DispatchCall& call, Shared& shared, uint64_t epoch) {
  part.learn_counts(epoch, shared, call);
  // These blocks wait for tokens anyhow, so it costs them nothing.
  if ((call.halves & kSend) != 0 && Part::thread() == 0) close(part, epoch);
  uint64_t lost = 0;  // equal in all threads
  part.for_tokens(shared, 0, [&](int32_t source, uint32_t t) {
    const auto* const word = part.template mine<uint64_t>(part.layout().token(epoch, source, t));
    bool here = false;
    if (!Place::kMasks || !has(lost, source)) {
      // Every thread waits, so that warps need not meet.
      const uint64_t found = part.await(word, Word::token(epoch, false), source);
      here = Word::here(found);
      if constexpr (Place::kMasks) {
        if (found < Word::token(epoch, false)) Place::lose(shared, source);
        lost |= Place::agreed_losses(shared);
        here = here && !has(lost, source);
      }
    }
    if (here) Payload::receive(part, call, shared, epoch, source, t);
    note_rows(part, call, shared, epoch, source, t, here);
  });
  if constexpr (Place::kFar)
    part.for_slots(epoch, [&](int32_t source, uint32_t slot) {
      Payload::receive(part, call, shared, epoch, source, slot);
      note_rows(part, call, shared, epoch, source, slot, true);
    });
}

template <class Payload, class Place>
RAILSHMEM_KERNEL inline void run_dispatch_as(Place& part, const DispatchCall& call, Shared& shared) {
  const uint64_t epoch = part.epoch() + ((call.halves & kSend) != 0 ? 1 : 0);
  if (part.sends()) Sending<Payload, Place>(part, call, shared, epoch).run();
  if (part.receives()) {
    receive<Payload>(part, call, shared, epoch);
  } else {
    threads::sync_block();
    if (Part::thread() == 0) close(part, epoch);
  }
  if constexpr (Place::kFar) part.finish_puts();
}
template <class Payload, class Place>
RAILSHMEM_KERNEL inline void run_dispatch(const DispatchCall& call, Shared& shared) {
  Place part(call.members, DeviceCall::moe_dispatch, call.halves, Sharing::halves);
  run_dispatch_as<Payload>(part, call, shared);
}

}  // namespace railshmem::moe::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Dispatch: a token goes once to each member that has experts of it, and is copied there to the experts' rows.
#pragma once

#include "moe/kernels/masking_part.h"
#include "moe/kernels/payload.h"
#include "moe/kernels/receive.h"

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
      const typename Payload::Loaded loaded = load(t, thread());
      take(t);
      const uint64_t mask = mask_of_token();
      tell(t, mask);
      if constexpr (Place::kFar) part_.take_slots(t, mask);
      send_row(t, mask, loaded);
      if (t == first) count(first);  // while the token is on its way
      send_entries(t, mask);
      threads::sync_block();
      if constexpr (Place::kFar) part_.tell_packed(epoch_, mask);
      count_in_hand();
    }
    if constexpr (Place::kFar) part_.send_rest(epoch_);
  }

 private:
  RAILSHMEM_KERNEL static uint32_t thread() { return static_cast<uint32_t>(Part::thread()); }
  RAILSHMEM_KERNEL static uint32_t threads() { return static_cast<uint32_t>(Part::threads()); }
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
    if constexpr (Payload::kMakes) {
      RAILSHMEM_NO_UNROLL
      for (uint32_t g = thread(); g < part_.shape().groups(); g += threads()) shared_.most[g] = 0;
    }
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
  /// Which of the token in hand's topk name the k-th one's expert, as bits. Up to 8 take one load's time.
  RAILSHMEM_KERNEL uint32_t mentions_of(int32_t k) const {
    constexpr int32_t kAtOnce = 8;
    const int32_t expert = shared_.expert[k];
    uint32_t mentions = 0;
    RAILSHMEM_NO_UNROLL
    for (int32_t first = 0; first < topk(); first += kAtOnce) {
      RAILSHMEM_UNROLL
      for (int32_t j = 0; j < kAtOnce; ++j)
        if (shared_.expert[first + j] == expert && first + j < topk()) mentions |= uint32_t{1} << (first + j);
    }
    return mentions;
  }
  /// Whether the k-th one names its expert, which there is, for the first time.
  RAILSHMEM_KERNEL bool leads(int32_t k, uint32_t mentions) const {
    return shared_.expert[k] >= 0 && (mentions & ((uint32_t{1} << k) - 1)) == 0;
  }
  /// A weight stands with the first mention of its expert.
  RAILSHMEM_KERNEL float weight_of(int32_t k, uint32_t mentions) const {
    float sum = 0;
    RAILSHMEM_NO_UNROLL
    for (mentions >>= k; mentions != 0; mentions >>= 1, ++k)
      if ((mentions & 1) != 0) sum += shared_.weight[k];
    return sum;
  }
  /// The members that have experts of the token in hand.
  RAILSHMEM_KERNEL uint64_t mask_of_token() const {
    constexpr int32_t kAtOnce = 8;
    uint64_t mask = 0;
    RAILSHMEM_NO_UNROLL
    for (int32_t first = 0; first < topk(); first += kAtOnce) {
      RAILSHMEM_UNROLL
      for (int32_t j = 0; j < kAtOnce; ++j) {
        const int32_t member = shared_.member[first + j];
        if (first + j < topk() && member >= 0) mask |= uint64_t{1} << member;
      }
    }
    return mask;
  }

  /// Tells the members of this node whether the token goes there, and notes where sums come from.
  RAILSHMEM_KERNEL void tell(uint32_t t, uint64_t mask) const {
    if (Part::thread() == 0) *part_.template mine<uint64_t>(part_.layout().mask(t)) = mask;
    RAILSHMEM_NO_UNROLL
    for (int32_t i = Part::thread(); i < part_.n(); i += Part::threads()) {
      const int32_t to = part_.after(i);
      if (part_.is_near(to) && !is_masked(to))
        portable::store_relaxed(part_.template theirs<uint64_t>(to, part_.layout().token(epoch_, part_.me(), t)),
                                Word::token(epoch_, (mask >> to & 1) != 0));
    }
  }
  RAILSHMEM_KERNEL typename Payload::Loaded load(uint32_t t, uint32_t i) const {
    if (i >= part_.layout().row_pairs()) return {};
    return Payload::load(part_, call_, t, i);
  }
  /// `loaded`: the thread's first units.
  RAILSHMEM_KERNEL void send_row(uint32_t t, uint64_t mask, const typename Payload::Loaded& loaded) {
    const uint32_t pairs = part_.layout().row_pairs();
    if constexpr (Payload::kMakes) {
      if (thread() < pairs) Payload::look(part_, shared_, thread(), loaded);
      RAILSHMEM_NO_UNROLL
      for (uint32_t i = thread() + threads(); i < pairs; i += threads()) Payload::look_at(part_, call_, shared_, t, i);
      threads::sync_block();
    }
    typename Payload::Loaded units = loaded;
    RAILSHMEM_NO_UNROLL
    for (uint32_t i = thread(); i - threads::lane() < pairs;) {
      const Pair pair = Payload::make(part_, call_, shared_, t, i, units);
      RAILSHMEM_NO_UNROLL
      for (int32_t steps = 1; steps <= part_.n(); ++steps) {  // the next members first
        const int32_t to = part_.after(steps == part_.n() ? 0 : steps);
        if ((mask >> to & 1) == 0) continue;
        if constexpr (Place::kFar) {
          if (!part_.is_near(to)) {
            if (i < pairs) part_.pack_pair(to, i, pair);
            continue;
          }
        }
        pair.send(packets_for(to, t), pairs, i, pairs, epoch_);
      }
      i += threads();
      units = load(t, i);
    }
  }
  RAILSHMEM_KERNEL Packet* packets_for(int32_t to, uint32_t t) const {
    return part_.template theirs<Packet>(to, part_.layout().packets(epoch_, part_.me(), t));
  }
  /// First threads have most of the row, so entries are for the last ones.
  RAILSHMEM_KERNEL void send_entries(uint32_t t, uint64_t mask) {
    const auto entries = static_cast<int32_t>(part_.shape().entries());
    RAILSHMEM_NO_UNROLL
    for (int32_t k = Part::threads() - 1 - Part::thread(); k < entries; k += Part::threads()) {
      int32_t theirs = -1;
      uint64_t entry = 0;
      if (k < topk()) {
        const uint32_t mentions = mentions_of(k);
        if (leads(k, mentions)) {
          const int32_t expert = shared_.expert[k];
          theirs = shared_.member[k];
          entry = Entry::of(static_cast<uint32_t>(expert - theirs * part_.shape().local()), shared_.count[expert],
                            part_.shape().late_weights != 0 ? mentions : bits_of(weight_of(k, mentions)));
        }
      }
      RAILSHMEM_NO_UNROLL
      for (int32_t to = 0; to < part_.n(); ++to) {
        if ((mask >> to & 1) == 0) continue;
        const uint64_t sent = to == theirs ? entry : Entry::kNone;
        if constexpr (Place::kFar) {
          if (!part_.is_near(to)) {
            part_.pack_entry(to, k, sent);
            continue;
          }
        }
        store_packet(packets_for(to, t) + part_.layout().row_packets() + k, sent, 0, epoch_);
      }
    }
  }
  RAILSHMEM_KERNEL void count_in_hand() {
    RAILSHMEM_NO_UNROLL
    for (int32_t k = Part::threads() - 1 - Part::thread(); k < topk(); k += Part::threads())
      if (leads(k, mentions_of(k))) add_one(&shared_.count[shared_.expert[k]]);
  }

  /// The words carry the counts themselves, so they need no fence. Those for other nodes travel together.
  RAILSHMEM_KERNEL void tell_counts() {
    renew_packets(part_, epoch_);
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

template <class Payload, class Place>
RAILSHMEM_KERNEL inline void run_dispatch_as(Place& part, const DispatchCall& call, Shared& shared) {
  const uint64_t epoch = part.epoch() + ((call.halves & kSend) != 0 ? 1 : 0);
  if (part.sends()) Sending<Payload, Place>(part, call, shared, epoch).run();
  if (part.receives()) {
    Receiving<Payload::kScales, Place>(part, call, shared, epoch).run();
  } else {
    threads::sync_block();
    if (Part::thread() == 0) part.close(part.end(), epoch);
  }
  if constexpr (Place::kFar) part.finish_puts();
}
template <class Payload, class Place>
RAILSHMEM_KERNEL inline void run_dispatch(const DispatchCall& call, Shared& shared) {
  Place part(call.members, DeviceCall::moe_dispatch, call.halves, Sharing::halves);
  run_dispatch_as<Payload>(part, call, shared);
}

}  // namespace railshmem::moe::kernels

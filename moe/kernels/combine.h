// SPDX-License-Identifier: BSD-3-Clause
// Combine: a member sums up the weighted rows of a token's experts that it has, as float, and the token's own member
// adds the members' sums in the order of ranks and rounds once.
#pragma once

#include "moe/kernels/masking_part.h"
#include "moe/kernels/packets.h"
#include "src/base/small_floats.h"

namespace railshmem::moe::kernels {

/// kLate: weights come from the tokens' members during the call, which may be one of several for a dispatch.
///
/// A member that has few tokens gets its sums as packets, others as sums and a word that follows them. Members on other
/// nodes get chunks.
///
/// Sums and late weights have one place. Between combines of two dispatches all members have received counts from all,
/// so everybody has read what was there. A combine again has words for that: a member writes to another one when that
/// has begun the call. Where members may be masked, every combine has them: a call waits for all members, so that all
/// see who is missing.
template <class T, bool kLate, class Place>
class Combining {
 public:
  static constexpr uint32_t kElements = kUnit / sizeof(T);

  RAILSHMEM_KERNEL Combining(Place& part, const CombineCall& call, Shared& shared)
      : part_(part), call_(call), shared_(shared), number_(number_of(part.epoch(), call.repeat)) {}

  /// One block tells the members that the call has begun. Before anything else.
  RAILSHMEM_KERNEL void begin() const {
    if (threads::block_in_row() == 0) tell_begin();
  }

  /// Sends late weights to the members that have experts of this member's tokens. All blocks, before they wait for
  /// anybody: the others wait for them.
  RAILSHMEM_KERNEL void send_weights() {
    const auto topk = static_cast<uint32_t>(part_.shape().topk);
    if (!Place::kMasks && call_.repeat != 0) begin();
    const uint64_t masked = part_.masked();
    RAILSHMEM_NO_UNROLL
    for (uint32_t t = threads::block_in_row(); t < call_.tokens; t += threads::blocks_in_row()) {
      const uint64_t mask = *part_.template mine<uint64_t>(part_.layout().mask(t)) & ~masked;
      RAILSHMEM_NO_UNROLL
      for (auto i = static_cast<uint32_t>(Part::thread()); i < static_cast<uint32_t>(part_.n()) * topk;
           i += static_cast<uint32_t>(Part::threads())) {
        const int32_t to = part_.after(static_cast<int32_t>(i / topk));
        if ((mask >> to & 1) == 0) continue;
        if constexpr (Place::kFar) {
          if (!part_.is_near(to)) {
            part_.weights_for(to, t)[i % topk] =
                Numbered::of(short_number(), bits_of(call_.weights[uint64_t{t} * topk + i % topk]));
            continue;
          }
        }
        if (!await_begin(to)) continue;
        const uint32_t weight = bits_of(call_.weights[uint64_t{t} * topk + i % topk]);
        portable::store_relaxed(part_.template theirs<uint64_t>(to, part_.layout().weights(part_.me(), t)) + i % topk,
                                Numbered::of(short_number(), weight));
      }
    }
    if constexpr (Place::kFar) part_.send_weights(number_, [this](int32_t to) { return await_begin(to); });
  }

  RAILSHMEM_KERNEL void send() {
    part_.learn_tokens(shared_);
    // A word says that all of a token's sums are here, and blocks count sums for other nodes by tokens, so there one
    // block makes them. Packets need no word.
    if constexpr (!Place::kFar) {
      const auto tokens = part_.tokens(shared_);
      if (tokens.most <= kFewSums) shares_ = part_.shares_of(tokens.all);
    }
    // Sums that have to cross go first.
    part_.for_tokens(shared_, 1, shares_, [&](int32_t source, uint32_t t) {
      if ((Place::kMasks && shared_.skipped[source] != 0) || !sum_up(source, t)) {
        if constexpr (Place::kMasks && Place::kFar) part_.skip_summed(source, t, shared_.tokens[source]);
        return;
      }
      if (!kLate && gets_packets(source)) return;
      threads::sync_block();
      if (gets_packets(source)) return;
      if constexpr (Place::kFar) {
        if (!part_.is_near(source)) {
          if (Part::thread() == 0) part_.tell_summed(source, t, shared_.tokens[source], number_);
          return;
        }
      }
      // release: pairs with the acquire of await(); without it the sums could come after their word.
      if (Part::thread() == 0)
        portable::store_release(part_.template theirs<uint64_t>(source, part_.layout().summed(part_.me(), t)), number_);
    });
  }

  RAILSHMEM_KERNEL void receive() {
    uint64_t lost = 0;  // equal in all threads
    if constexpr (Place::kMasks) lost = part_.lose_masked(shared_);
    // With masks the threads that agree about a token are those of one block.
    shares_ = Place::kMasks ? Shares{0, 0} : part_.shares_of(call_.tokens);
    const uint32_t step = part_.blocks() >> shares_.shift, first = part_.block() >> shares_.shift;
    RAILSHMEM_NO_UNROLL
    for (uint32_t t = first; first < step && t < call_.tokens; t += step) {
      const uint64_t mask = *part_.template mine<uint64_t>(part_.layout().mask(t)) & ~lost;
      await_members(t, mask);
      if constexpr (Place::kMasks) lost |= Place::agreed_losses(shared_);
      finish(t, mask & ~lost);
    }
    if constexpr (Place::kMasks) await_all();
  }

 private:
  struct alignas(kUnit) Elements {
    T at[kElements];
  };
  struct alignas(kUnit) Four {
    float at[4];
  };
  struct Sums {
    Four half[kElements / 4];
    RAILSHMEM_KERNEL float& at(uint32_t i) { return half[i / 4].at[i % 4]; }
  };
  RAILSHMEM_KERNEL static uint64_t number_of(uint64_t epoch, uint32_t repeat) {
    return kLate ? epoch * (kMostRepeats + 1) + repeat : epoch;
  }
  /// Of late weights and of packets. With repeats the dispatch's number and whether they are odd, so that 16 bits last
  /// for 2^15 dispatches.
  RAILSHMEM_KERNEL uint64_t short_number() const {
    return kLate ? number_ / (kMostRepeats + 1) << 1 | (number_ & 1) : number_;
  }
  RAILSHMEM_KERNEL bool gets_packets(int32_t source) const {
    return part_.is_near(source) && shared_.tokens[source] <= kFewSums;
  }
  RAILSHMEM_KERNEL bool sends_packets(int32_t member) const {
    return part_.is_near(member) && call_.tokens <= kFewSums;
  }

  /// What was read before this kernel has been read, so nothing needs a fence.
  RAILSHMEM_KERNEL void tell_begin() const {
    const uint64_t masked = part_.masked();
    RAILSHMEM_NO_UNROLL
    for (int32_t i = Part::thread(); i < part_.n(); i += Part::threads()) {
      if constexpr (Place::kFar) {
        if (!part_.is_near(part_.after(i))) {
          part_.tell_begun(part_.after(i), number_);
          continue;
        }
      }
      if (!Place::kMasks || !has(masked, part_.after(i)))
        portable::store_relaxed(part_.template theirs<uint64_t>(part_.after(i), Layout::begun(part_.me())), number_);
    }
  }
  /// Of a combine again. Returns whether the member has begun it; false where it is masked.
  RAILSHMEM_KERNEL bool await_begin(int32_t member) { return call_.repeat == 0 || has_begun(member) || !Place::kMasks; }
  RAILSHMEM_KERNEL bool has_begun(int32_t member) {
    return part_.await(part_.template mine<uint64_t>(Layout::begun(member)), number_, member) >= number_;
  }
  /// One block waits until all members have begun the call.
  RAILSHMEM_KERNEL void await_all() {
    if (threads::block_in_row() != 0) return;
    const uint64_t masked = part_.masked();
    RAILSHMEM_NO_UNROLL
    for (int32_t m = Part::thread(); m < part_.n(); m += Part::threads())
      if (!has(masked, m)) has_begun(m);
  }

  RAILSHMEM_KERNEL uint32_t first_unit() const {
    return shares_.begin(units()) + static_cast<uint32_t>(Part::thread());
  }
  RAILSHMEM_KERNEL uint32_t end_unit() const { return shares_.end(units()); }
  RAILSHMEM_KERNEL uint32_t units() const { return static_cast<uint32_t>(part_.shape().hidden) / kElements; }

  static constexpr uint32_t kRowsAtOnce = 4;
  using Some = Entries<kRowsAtOnce>;

  /// Returns whether the token has an expert here and its member is not lost, equally in all threads.
  RAILSHMEM_KERNEL bool sum_up(int32_t source, uint32_t t) {
    const auto* const found = part_.template mine<uint64_t>(part_.layout().found(source, t));
    const Some first(found);
    if (Entry::place(first.at[0]) == Entry::kNone) return false;
    if constexpr (kLate) {
      if constexpr (Place::kMasks) {
        if (!await_begin(source)) Place::lose(shared_, source);
        take_weights(found, source, t);
        // Whoever is ahead waits for the block in send() or in take_weights() before it can lose another word.
        if (has(shared_.lost, source)) return false;
      } else {
        take_weights(found, source, t);
        await_begin(source);
      }
    }
    const bool few = gets_packets(source);
    // One address for both saves registers.
    auto* const to = few ? reinterpret_cast<unsigned char*>(
                               part_.template theirs<Packet>(source, part_.layout().sum_packets(part_.me(), t)))
                         : reinterpret_cast<unsigned char*>(part_.template sums_for<Sums>(source, t));
    for_sums(found, first, [&](uint32_t u, Sums& sums) {
      if (few) return pair_of(sums).send(reinterpret_cast<Packet*>(to), units(), u, end_unit(), short_number());
      if (u >= end_unit()) return;
      RAILSHMEM_UNROLL
      for (uint32_t i = 0; i < kElements / 4; ++i) reinterpret_cast<Sums*>(to)[u].half[i] = sums.half[i];
    });
    return true;
  }
  /// Calls with(u, sums) for each unit of the thread, in all lanes of a warp: some may be at one behind the last.
  /// `first`: the first entries.
  template <class With>
  RAILSHMEM_KERNEL void for_sums(const uint64_t* found, const Some& first, const With& with) const {
    RAILSHMEM_NO_UNROLL
    for (uint32_t u = first_unit(); u - threads::lane() < end_unit(); u += static_cast<uint32_t>(Part::threads())) {
      Sums sums = {};
      if (u < end_unit()) add_rows(first, 0, u, sums);
      RAILSHMEM_NO_UNROLL
      for (uint32_t i = kRowsAtOnce; u < end_unit() && i < part_.shape().entries(); i += kRowsAtOnce) {
        const Some more(found + i);
        if (Entry::place(more.at[0]) == Entry::kNone) break;
        add_rows(more, i, u, sums);
      }
      with(u, sums);
    }
  }
  /// Waits for unit u of what a member sends as packets.
  RAILSHMEM_KERNEL Sums take_sums(int32_t from, uint32_t t, uint32_t u) {
    const auto* const packets = part_.template mine<Packet>(part_.layout().sum_packets(from, t));
    return sums_of(Pair::take(part_, packets, units(), u, short_number(), from, shared_));
  }
  /// Eight sums are a pair.
  RAILSHMEM_KERNEL static Pair pair_of(const Sums& sums) {
    Pair pair;
    memcpy(&pair, &sums, sizeof pair);
    return pair;
  }
  RAILSHMEM_KERNEL static Sums sums_of(const Pair& pair) {
    Sums sums;
    memcpy(&sums, &pair, sizeof sums);
    return sums;
  }
  /// Waits for the weights of a token's entries here; one named twice has the sum, as weight_of() of dispatch makes it.
  /// The whole block, which meets before it takes the next token.
  RAILSHMEM_KERNEL void take_weights(const uint64_t* found, int32_t source, uint32_t t) {
    if constexpr (Place::kFar) part_.await_weights(source, number_);
    const auto* const words = part_.template mine<uint64_t>(part_.layout().weights(source, t));
    RAILSHMEM_NO_UNROLL
    for (auto i = static_cast<uint32_t>(Part::thread()); i < part_.shape().entries();
         i += static_cast<uint32_t>(Part::threads())) {
      if (Entry::place(found[i]) == Entry::kNone) break;
      float sum = 0;
      RAILSHMEM_NO_UNROLL
      for (uint32_t k = 0, mentions = Entry::weight(found[i]); mentions != 0; ++k, mentions >>= 1)
        if ((mentions & 1) != 0) sum += weight_in(words + k, source);
      shared_.weight[i] = sum;
    }
    threads::sync_block();
  }
  RAILSHMEM_KERNEL float weight_in(const uint64_t* word, int32_t source) const {
    return float_of(static_cast<uint32_t>(Numbered::data(part_.await_numbered(word, short_number(), source, shared_))));
  }
  /// The weight of the token's i-th entry here.
  RAILSHMEM_KERNEL float weight(uint64_t entry, uint32_t i) const {
    if constexpr (kLate) return shared_.weight[i];
    return float_of(Entry::weight(entry));
  }
  /// `at`: the number of the first entry. All loads are on their way before the first sum.
  RAILSHMEM_KERNEL void add_rows(const Some& some, uint32_t at, uint32_t u, Sums& sums) const {
    Unit row[kRowsAtOnce];
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kRowsAtOnce; ++i) {
      const uint32_t found = Entry::place(some.at[i]);
      if (found != Entry::kNone)
        row[i] = copying::load(static_cast<const Unit*>(call_.rows) + uint64_t{found} * units() + u);
    }
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kRowsAtOnce; ++i) {
      if (Entry::place(some.at[i]) == Entry::kNone) continue;
      const float factor = weight(some.at[i], at + i);
      const Elements elements = of_unit<Elements>(row[i]);
      RAILSHMEM_UNROLL
      for (uint32_t j = 0; j < kElements; ++j) sums.at(j) += factor * elements.at[j].value();
    }
  }

  /// Every thread waits, so that warps need not meet. For packets finish() waits; with masks the threads agree before.
  RAILSHMEM_KERNEL void await_members(uint32_t t, uint64_t mask) {
    RAILSHMEM_NO_UNROLL
    for (int32_t from = 0; from < part_.n(); ++from) {
      if ((mask >> from & 1) == 0) continue;
      if (sends_packets(from)) {
        if constexpr (Place::kMasks) await_packets(from, t);
        continue;
      }
      if constexpr (Place::kFar) {
        if (!part_.is_near(from)) {
          const bool here = part_.await_sums(from, t, number_);
          if constexpr (Place::kMasks) {
            if (!here) Place::lose(shared_, from);
          }
          continue;
        }
      }
      const uint64_t word = part_.await(part_.template mine<uint64_t>(part_.layout().summed(from, t)), number_, from);
      if constexpr (Place::kMasks) {
        if (word < number_) Place::lose(shared_, from);
      }
    }
  }

  RAILSHMEM_KERNEL void await_packets(int32_t from, uint32_t t) {
    RAILSHMEM_NO_UNROLL
    for (uint32_t u = first_unit(); u < end_unit(); u += static_cast<uint32_t>(Part::threads())) take_sums(from, t, u);
  }
  RAILSHMEM_KERNEL void finish(uint32_t t, uint64_t mask) {
    if (call_.tokens <= kFewSums)
      finish_with(t, mask, [&](int32_t from, uint32_t u) {
        return part_.is_near(from) ? take_sums(from, t, u) : part_.template sums_from<Sums>(from, t)[u];
      });
    else
      finish_with(t, mask, [&](int32_t from, uint32_t u) { return part_.template sums_from<Sums>(from, t)[u]; });
  }
  template <class SumsFrom>
  RAILSHMEM_KERNEL void finish_with(uint32_t t, uint64_t mask, const SumsFrom& sums_from) {
    auto* const out = static_cast<Elements*>(call_.out) + uint64_t{t} * units();
    RAILSHMEM_NO_UNROLL
    for (uint32_t u = first_unit(); u < end_unit(); u += static_cast<uint32_t>(Part::threads())) {
      Sums sums = {};
      RAILSHMEM_NO_UNROLL
      for (int32_t from = 0; from < part_.n(); ++from) {
        if ((mask >> from & 1) == 0) continue;
        Sums theirs = sums_from(from, u);
        RAILSHMEM_UNROLL
        for (uint32_t j = 0; j < kElements; ++j) sums.at(j) += theirs.at(j);
      }
      Elements result;
      RAILSHMEM_UNROLL
      for (uint32_t j = 0; j < kElements; ++j) result.at[j] = T(sums.at(j));
      out[u] = result;
    }
  }

  Place& part_;
  const CombineCall& call_;
  Shared& shared_;
  const uint64_t number_;  ///< of the combine; it only grows
  Shares shares_{0, 0};
};

template <class T, bool kLate, class Place>
RAILSHMEM_KERNEL inline void run_combine_as(Place& part, const CombineCall& call, Shared& shared) {
  Combining<T, kLate, Place> combining(part, call, shared);
  if constexpr (Place::kMasks) {
    if ((call.halves & kSend) != 0) combining.begin();
  }
  if (kLate && (call.halves & kSend) != 0) combining.send_weights();
  if (part.sends()) combining.send();
  if (part.receives()) combining.receive();
  if constexpr (Place::kFar) part.finish_puts();
}
template <class T, bool kLate, class Place>
RAILSHMEM_KERNEL inline void run_combine(const CombineCall& call, Shared& shared) {
  Place part(call.members, DeviceCall::moe_combine, call.halves, Sharing::none);
  run_combine_as<T, kLate>(part, call, shared);
}

}  // namespace railshmem::moe::kernels

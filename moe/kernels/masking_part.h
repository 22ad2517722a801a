// SPDX-License-Identifier: BSD-3-Clause
// The part of a call that goes on without members: those that are masked when it begins, and those that a wait masks.
//
// A wait may end so in one thread while another one still sees the word come. So the threads of a block agree before
// they go on, and blocks that must agree, because they share out rows by the counts of all sources, have a Verdict.
#pragma once

#include "moe/kernels/masks.h"
#include "moe/kernels/part.h"

namespace railshmem::moe::kernels {

/// kNodes: some members have no memory here, see FarFewPartOf.
template <bool kNodes>
class MaskingPartOf : public Part {
 public:
  static constexpr bool kMasks = true;
  using Part::Part;

  /// Threads may see different ones.
  RAILSHMEM_KERNEL uint64_t masked() const { return portable::load_relaxed(members_.mask); }

  /// As Part::await(). Returns a word that is less where the member is masked meanwhile.
  template <bool kOrders = true>
  RAILSHMEM_KERNEL uint64_t await(const uint64_t* word, uint64_t at_least, int32_t from) {
    // acquire: as in Part::await().
    const uint64_t found = kOrders ? portable::load_acquire(word) : portable::load_relaxed(word);
    if (found >= at_least) return found;
    return await_or_mask<kNodes>(members_, call_, Awaited::number, word, at_least, from);
  }
  /// As Part::await_numbered(). Loses the member where it is masked meanwhile.
  RAILSHMEM_KERNEL uint64_t await_numbered(const uint64_t* word, uint64_t number, int32_t from, Shared& shared) const {
    uint64_t found = portable::load_relaxed(word);
    if (!Numbered::is_of(number, found)) {
      found = await_or_mask<kNodes>(members_, call_, Awaited::numbered, word, number, from);
      if (!Numbered::is_of(number, found)) lose(shared, from);
    }
    return found;
  }

  /// As Part::learn_counts(), or FarFewPartOf::learn_counts(). A source that is out has no tokens, and is skipped.
  RAILSHMEM_KERNEL void learn_counts(uint64_t epoch, Shared& shared, const DispatchCall& call) {
    const int32_t local = shape().local(), words = n() * (local + 1);
    const uint64_t masked = this->masked(), none = Word::count(epoch, 0);
    forget_losses(shared);
    RAILSHMEM_NO_UNROLL
    for (int32_t i = thread(); i < words; i += threads()) {
      const int32_t s = i / (local + 1), e = i % (local + 1);
      uint64_t word = has(masked, s) ? 0 : await(mine<uint64_t>(layout_.count(epoch, s, awaited(s, e))), none, s);
      if (word < none) {
        lose(shared, s);
      } else if (is_far(s)) {
        word = e == local ? 0 : portable::load_relaxed(mine<uint64_t>(layout_.count(epoch, s, e)));
      }
      (e == local ? shared.tokens[s] : shared.begin[e * n() + s]) = Word::tokens(word);
    }
    threads::sync_block();
    RAILSHMEM_NO_UNROLL
    for (int32_t s = thread(); s < n(); s += threads()) {
      const bool out = settle_counts(epoch, s, shared);
      if constexpr (kNodes) shared.skipped[s] = out ? 1 : 0;
      // Who has received all tokens of another node says how many they were.
      if (block() == 0 && (out || !is_far(s))) *mine<uint32_t>(layout_.tokens(s)) = shared.tokens[s];
    }
    note_counts(shared, call, local);
  }
  /// As Part::learn_tokens(). Sources that are masked in one thread are skipped by all.
  RAILSHMEM_KERNEL void learn_tokens(Shared& shared) const {
    const uint64_t masked = this->masked();
    RAILSHMEM_NO_UNROLL
    for (int32_t s = thread(); s < n(); s += threads()) shared.skipped[s] = has(masked, s) ? 1 : 0;
    if (thread() == 0) shared.lost = 0;
    Part::learn_tokens(shared);
  }

  /// The whole block, before it notes losses.
  RAILSHMEM_KERNEL static void forget_losses(Shared& shared) {
    threads::sync_block();
    if (thread() == 0) shared.lost = 0;
    threads::sync_block();
  }
  /// The whole block, before it notes losses: the members that are masked are lost. Returns them.
  RAILSHMEM_KERNEL uint64_t lose_masked(Shared& shared) const {
    threads::sync_block();
    if (thread() == 0) shared.lost = masked();
    return agreed_losses(shared);
  }
  /// Notes that the calling thread goes on without a member.
  RAILSHMEM_KERNEL static void lose(Shared& shared, int32_t member) {
    const uint64_t bit = uint64_t{1} << member;
#if defined(__CUDA_ARCH__)
    atomicOr(reinterpret_cast<unsigned long long*>(&shared.lost), static_cast<unsigned long long>(bit));
#else
    __atomic_fetch_or(&shared.lost, bit, __ATOMIC_RELAXED);
#endif
  }
  /// The members without which the block goes on, as bits. The whole block, behind its waits.
  RAILSHMEM_KERNEL static uint64_t agreed_losses(const Shared& shared) {
    threads::sync_block();
    const uint64_t lost = shared.lost;
    threads::sync_block();
    return lost;
  }

 private:
  RAILSHMEM_KERNEL bool is_far(int32_t s) const {
    return kNodes && members_.memory[s] == nullptr;
  }
  /// Which word says that a source's count for expert e is here: that of its own, or the last one.
  RAILSHMEM_KERNEL int32_t awaited(int32_t s, int32_t e) const {
    return is_far(s) ? shape().local() : e;
  }
  /// All blocks get the counts of the same sources, whatever their threads have seen. Returns whether the source is
  /// out.
  RAILSHMEM_KERNEL bool settle_counts(uint64_t epoch, int32_t s, Shared& shared) const {
    const bool lost = has(shared.lost, s);
    const bool out = Verdict::is_out(mine<uint64_t>(Layout::verdict(s)), epoch, lost);
    if (!lost && !out) return false;
    const int32_t local = shape().local();
    RAILSHMEM_NO_UNROLL
    for (int32_t e = 0; e <= local; ++e)
      (e == local ? shared.tokens[s] : shared.begin[e * n() + s]) =
          out || (e == local && is_far(s)) ? 0 : count_seen(epoch, s, e);
    return out;
  }
  /// A count that another block of this GPU has seen, so it is there.
  RAILSHMEM_KERNEL uint32_t count_seen(uint64_t epoch, int32_t s, int32_t e) const {
    const auto* const at = mine<uint64_t>(layout_.count(epoch, s, e));
    uint64_t word = portable::load_acquire(at);
    while (word < Word::count(epoch, 0)) word = portable::load_acquire(at);
    return Word::tokens(word);
  }
};
using MaskingPart = MaskingPartOf<false>;

}  // namespace railshmem::moe::kernels

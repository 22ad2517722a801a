// SPDX-License-Identifier: BSD-3-Clause
// Atomic memory operations, as their entry points call them.
#pragma once

#include "src/api/entry.h"
#include "src/rma/atomic.h"
#include "src/rma/bits.h"

namespace railshmem {

// `in` is the context, or nothing. What all types of a size share works on words.

template <AmoOp kOp, class Word, class... In>
[[gnu::noinline]] Word fetch_word(const Word* dest, Word operand, Word compare, CallTo call, In... in) noexcept {
  const Entry entry(call, in...);
  return run_call<&amo<Word>>(entry, observe::Kind::amo, sizeof(Word), {dest}, kOp, dest, operand, compare, entry.pe);
}

template <AmoOp kOp, class Word, class... In>
[[gnu::noinline]] void fetch_word_nbi(Word* fetch, const Word* dest, Word operand, Word compare, CallTo call,
                                      In... in) noexcept {
  const Entry entry(call, in...);
  run_call<&amo_nbi<Word>>(entry, observe::Kind::amo, sizeof(Word), {dest}, kOp, fetch, dest, operand, compare,
                           entry.pe);
}

template <AmoOp kOp, class Word, class... In>
[[gnu::noinline]] void update_word(Word* dest, Word operand, CallTo call, In... in) noexcept {
  const Entry entry(call, in...);
  run_call<&amo_plain<Word>>(entry, observe::Kind::amo, sizeof(Word), {dest}, kOp, dest, operand, entry.pe);
}

/// Returns the old value.
template <AmoOp kOp, class T, class... In>
[[gnu::always_inline]] inline T fetching(const T* dest, T operand, T compare, CallTo call, In... in) noexcept {
  return from_bits<T>(
      fetch_word<kOp>(reinterpret_cast<const Bits<T>*>(dest), as_bits(operand), as_bits(compare), call, in...));
}

/// The old value is in *fetch at quiet.
template <AmoOp kOp, class T, class... In>
[[gnu::always_inline]] inline void fetching_nbi(T* fetch, const T* dest, T operand, T compare, CallTo call,
                                                In... in) noexcept {
  fetch_word_nbi<kOp>(reinterpret_cast<Bits<T>*>(fetch), reinterpret_cast<const Bits<T>*>(dest), as_bits(operand),
                      as_bits(compare), call, in...);
}

/// Complete at quiet.
template <AmoOp kOp, class T, class... In>
[[gnu::always_inline]] inline void updating(T* dest, T operand, CallTo call, In... in) noexcept {
  update_word<kOp>(reinterpret_cast<Bits<T>*>(dest), as_bits(operand), call, in...);
}

}  // namespace railshmem

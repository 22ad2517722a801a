// SPDX-License-Identifier: BSD-3-Clause
// How members of an active set tell each other something: counts in pSync, alone or behind data.
#pragma once

#include <cstring>

#include "src/active/active_set.h"
#include "src/rma/ordering.h"
#include "src/rma/signal.h"
#include "src/rma/waiter.h"

namespace railshmem {

/// Adds to a word of member `to`, behind this PE's stores.
inline void tell(const ActiveSet& set, int to, int index, uint64_t count = 1) noexcept {
  amo<uint64_t>(set.state, set.context, set.function, AmoOp::add, set.psync + index, count, uint64_t{0},
                set.pes.pe(to));
}

/// Waits until `count` has arrived in this PE's word, and takes it away. `from`: the sending rank, -1 for several.
inline void take(const ActiveSet& set, int from, int index, uint64_t count = 1) noexcept {
  uint64_t* const word = set.psync + index;
  // acquire: pairs with the release of the senders' updates; what they did before is visible after.
  wait_for(set.state, {set.function, from < 0 ? -1 : set.pes.pe(from)},
           [&] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= count; });
  // relaxed: only this PE looks at the word; atomic because senders may add meanwhile.
  __atomic_fetch_sub(word, count, __ATOMIC_RELAXED);
}

/// The same for a word that carries one number from one sender, which adds it once.
inline uint64_t take_number(const ActiveSet& set, int from, int index) noexcept {
  uint64_t* const word = set.psync + index;
  uint64_t number = 0;
  // acquire: as in take().
  wait_for(set.state, {set.function, set.pes.pe(from)},
           [&] { return (number = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != 0; });
  __atomic_fetch_sub(word, number, __ATOMIC_RELAXED);  // relaxed: as in take()
  return number;
}

/// Copies to the symmetric address `dest` of member `to`, then adds 1 to a word there, never before the data. `source`
/// stays untouched until settle(). nbytes may be 0.
inline void push(const ActiveSet& set, int to, void* dest, const void* source, size_t nbytes, int index) noexcept {
  put_signal<true>(set.state, set.context, set.function, dest, source, nbytes, {set.psync + index, 1, SignalOp::add},
                   set.pes.pe(to));
}

/// Returns when the sources of all pushes may be reused and their data is at its targets.
inline void settle(const ActiveSet& set) noexcept {
  quiet(set.state, set.context);
}

/// Within this PE; in place nothing is to do.
inline void move_own(void* to, const void* from, size_t nbytes) noexcept {
  if (to != from && nbytes > 0) std::memmove(to, from, nbytes);
}

inline std::byte* at(void* base, size_t offset) noexcept {
  return static_cast<std::byte*>(base) + offset;
}
inline const std::byte* at(const void* base, size_t offset) noexcept {
  return static_cast<const std::byte*>(base) + offset;
}

}  // namespace railshmem

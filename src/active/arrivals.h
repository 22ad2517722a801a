// SPDX-License-Identifier: BSD-3-Clause
// How members of an active set tell each other something: counts in pSync, alone or behind data.
#pragma once

#include <cstring>

#include "src/active/active_set.h"
#include "src/rma/ordering.h"
#include "src/rma/signal.h"
#include "src/rma/wait.h"
#include "src/rma/waiter.h"

namespace railshmem {

/// Adds to a word of member `to`, behind this PE's stores.
inline void notify(const ActiveSet& set, int to, int index, uint64_t count = 1) noexcept {
  amo<uint64_t>(set.state, set.context, set.function, AmoOp::add, set.psync + index, count, uint64_t{0},
                set.pes.pe(to));
}

/// Takes `count` off this PE's word; senders may add meanwhile.
inline void take_away(const ActiveSet& set, uint64_t* word, uint64_t count) noexcept {
  if (set.state.device && set.state.device->is_device(word)) {
    // A fetching operation, so that the subtraction is complete when the call returns.
    amo<uint64_t>(set.state, set.context, set.function, AmoOp::fetch_add, word, -count, uint64_t{0}, set.state.me);
    return;
  }
  // relaxed: only this PE looks at the word.
  __atomic_fetch_sub(word, count, __ATOMIC_RELAXED);
}

/// Waits until `count` has arrived in this PE's word, and takes it away. `from`: the sending rank, -1 for several.
inline void take(const ActiveSet& set, int from, int index, uint64_t count = 1) noexcept {
  uint64_t* const word = set.psync + index;
  wait_for(set.state, {set.function, from < 0 ? -1 : set.pes.pe(from), true},
           [&] { return load_variable(set.state.device, word) >= count; });
  take_away(set, word, count);
}

/// Waits for a word that carries a number, which one sender adds once. Takes the number away and returns it.
inline uint64_t take_number(const ActiveSet& set, int from, int index) noexcept {
  uint64_t* const word = set.psync + index;
  uint64_t number = 0;
  wait_for(set.state, {set.function, set.pes.pe(from), true},
           [&] { return (number = load_variable(set.state.device, word)) != 0; });
  take_away(set, word, number);
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

/// Copies within this PE; does nothing where `to` is `from`.
inline void move_own(const ActiveSet& set, void* to, const void* from, size_t nbytes) noexcept {
  if (to == from || nbytes == 0) return;
  if (set.state.device) return set.state.device->copy(to, from, nbytes);
  std::memmove(to, from, nbytes);
}

inline std::byte* at(void* base, size_t offset) noexcept {
  return static_cast<std::byte*>(base) + offset;
}
inline const std::byte* at(const void* base, size_t offset) noexcept {
  return static_cast<const std::byte*>(base) + offset;
}

}  // namespace railshmem

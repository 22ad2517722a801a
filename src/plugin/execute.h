// SPDX-License-Identifier: BSD-3-Clause
// Memory operations of a PE's CPU on memory that peers see: by load/store callers, and by the proxy for remote PEs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "include/shmem/detail/amo.h"

namespace railshmem {

/// Copies so that an aligned 4- or 8-byte value appears whole to a thread that polls it.
inline void copy_whole(std::byte* to, const std::byte* from, size_t nbytes) noexcept {
  if (nbytes == 8 && reinterpret_cast<uintptr_t>(to) % 8 == 0) {
    uint64_t word;
    std::memcpy(&word, from, 8);
    __atomic_store_n(reinterpret_cast<uint64_t*>(to), word, __ATOMIC_RELEASE);
  } else if (nbytes == 4 && reinterpret_cast<uintptr_t>(to) % 4 == 0) {
    uint32_t word;
    std::memcpy(&word, from, 4);
    __atomic_store_n(reinterpret_cast<uint32_t*>(to), word, __ATOMIC_RELEASE);
  } else {
    std::memcpy(to, from, nbytes);
  }
}

/// Copies so that an aligned 4- or 8-byte value that others change atomically is read whole, as a NIC would.
inline void read_whole(std::byte* to, const std::byte* from, size_t nbytes) noexcept {
  if (nbytes == 8 && reinterpret_cast<uintptr_t>(from) % 8 == 0) {
    const uint64_t word = __atomic_load_n(reinterpret_cast<const uint64_t*>(from), __ATOMIC_ACQUIRE);
    std::memcpy(to, &word, 8);
  } else if (nbytes == 4 && reinterpret_cast<uintptr_t>(from) % 4 == 0) {
    const uint32_t word = __atomic_load_n(reinterpret_cast<const uint32_t*>(from), __ATOMIC_ACQUIRE);
    std::memcpy(to, &word, 4);
  } else {
    std::memcpy(to, from, nbytes);
  }
}

/// One atomic operation on an aligned word; returns the old value (0 for `set`, which does not read).
/// acq_rel: pairs with the acquire loads of wait_until and of local atomics on the word.
template <class Word>
[[gnu::always_inline]] inline Word execute_amo(Word* word, AmoOp op, Word operand, Word compare) noexcept {
  switch (op) {
    case AmoOp::fetch:
      return __atomic_load_n(word, __ATOMIC_ACQUIRE);
    case AmoOp::set:
      __atomic_store_n(word, operand, __ATOMIC_RELEASE);
      return 0;
    case AmoOp::swap:
      return __atomic_exchange_n(word, operand, __ATOMIC_ACQ_REL);
    case AmoOp::compare_swap:
      __atomic_compare_exchange_n(word, &compare, operand, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
      return compare;  // holds the old value whether it matched or not
    case AmoOp::add:
    case AmoOp::fetch_add:
      return __atomic_fetch_add(word, operand, __ATOMIC_ACQ_REL);
    case AmoOp::bit_and:
    case AmoOp::fetch_and:
      return __atomic_fetch_and(word, operand, __ATOMIC_ACQ_REL);
    case AmoOp::bit_or:
    case AmoOp::fetch_or:
      return __atomic_fetch_or(word, operand, __ATOMIC_ACQ_REL);
    case AmoOp::bit_xor:
    case AmoOp::fetch_xor:
      return __atomic_fetch_xor(word, operand, __ATOMIC_ACQ_REL);
  }
  return 0;
}

/// release: pairs with the acquire load of signal_wait_until; the data stored before must be visible with the signal.
inline void execute_signal(uint64_t* signal, SignalOp op, uint64_t value) noexcept {
  if (op == SignalOp::set) {
    __atomic_store_n(signal, value, __ATOMIC_RELEASE);
  } else {
    __atomic_fetch_add(signal, value, __ATOMIC_ACQ_REL);
  }
}

/// Raises a flag. Flags only grow, so a message that a later one overtook changes nothing. A value of 0 is a call to
/// look, no flag; its address may be memory that a put is just writing.
inline void raise_flag(uint64_t* flag, uint64_t value) noexcept {
  if (value == 0) return;
  uint64_t seen = __atomic_load_n(flag, __ATOMIC_RELAXED);
  // release: pairs with the acquire load of the thread that waits for the flag.
  while (seen < value && !__atomic_compare_exchange_n(flag, &seen, value, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

}  // namespace railshmem

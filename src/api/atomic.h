// SPDX-License-Identifier: BSD-3-Clause
// Atomic memory operations, as their entry points call them.
#pragma once

#include "src/api/entry.h"
#include "src/rma/atomic.h"

namespace railshmem {

/// Returns the old value.
template <class T>
[[gnu::always_inline]] inline T fetching(const Entry& entry, AmoOp op, const T* dest, T operand, T compare) noexcept {
  return run_call<&amo<T>>(entry, observe::Kind::amo, sizeof(T), {dest}, op, dest, operand, compare, entry.pe);
}

/// The old value is in *fetch at quiet.
template <class T>
[[gnu::always_inline]] inline void fetching_nbi(const Entry& entry, AmoOp op, T* fetch, const T* dest, T operand,
                                                T compare) noexcept {
  run_call<&amo_nbi<T>>(entry, observe::Kind::amo, sizeof(T), {dest}, op, fetch, dest, operand, compare, entry.pe);
}

/// Complete at quiet.
template <class T>
[[gnu::always_inline]] inline void updating(const Entry& entry, AmoOp op, T* dest, T operand) noexcept {
  run_call<&amo_plain<T>>(entry, observe::Kind::amo, sizeof(T), {dest}, op, dest, operand, entry.pe);
}

}  // namespace railshmem

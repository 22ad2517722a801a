// SPDX-License-Identifier: BSD-3-Clause
// Remote memory access, as its entry points call it.
#pragma once

#include "src/api/entry.h"
#include "src/rma/put_get.h"
#include "src/rma/strided.h"

namespace railshmem {

/// kOperation: put or put_nbi.
template <auto kOperation>
[[gnu::always_inline]] inline void put_block(const Entry& entry, void* dest, const void* source, size_t nelems,
                                             size_t element) noexcept {
  const size_t nbytes = total_bytes(entry.function, nelems, element, entry.pe);
  run_call<kOperation>(entry, observe::Kind::put, nbytes, {dest, source}, dest, source, nbytes, entry.pe);
}

/// kOperation: get or get_nbi.
template <auto kOperation>
[[gnu::always_inline]] inline void get_block(const Entry& entry, void* dest, const void* source, size_t nelems,
                                             size_t element) noexcept {
  const size_t nbytes = total_bytes(entry.function, nelems, element, entry.pe);
  run_call<kOperation>(entry, observe::Kind::get, nbytes, {source, dest}, dest, source, nbytes, entry.pe);
}

template <class T>
[[gnu::always_inline]] inline void put_one(const Entry& entry, T* dest, T value) noexcept {
  run_call<&put_value<T>>(entry, observe::Kind::put, sizeof(T), {dest}, dest, value, entry.pe);
}

template <class T>
[[gnu::always_inline]] inline T get_one(const Entry& entry, const T* source) noexcept {
  return run_call<&get_value<T>>(entry, observe::Kind::get, sizeof(T), {source}, source, entry.pe);
}

inline void put_strided(const Entry& entry, void* dest, const void* source, const Strides& strides) noexcept {
  const Probe probe(
      entry.state, &entry.context,
      {observe::Kind::put, entry.function, strides.element * strides.block * strides.nblocks, entry.pe, dest});
  strided_put(entry.state, entry.context, entry.function, dest, source, strides, entry.pe);
}

inline void get_strided(const Entry& entry, void* dest, const void* source, const Strides& strides) noexcept {
  const Probe probe(
      entry.state, &entry.context,
      {observe::Kind::get, entry.function, strides.element * strides.block * strides.nblocks, entry.pe, source});
  strided_get(entry.state, entry.context, entry.function, dest, source, strides, entry.pe);
}

}  // namespace railshmem

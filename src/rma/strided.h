// SPDX-License-Identifier: BSD-3-Clause
// Strided and block-strided access (OpenSHMEM 1.6 section 9.6.1): nblocks blocks of `block` bytes.
#pragma once

#include "src/rma/entry.h"

namespace railshmem {

struct Strides {
  ptrdiff_t dest;    ///< elements from block to block in dest
  ptrdiff_t source;  ///< elements from block to block in source
  size_t element;    ///< bytes of an element
  size_t block;      ///< elements of a block
  size_t nblocks;
};

/// Bytes from the first element to the end of the last one, on the side `which` ("dest" or "source"). Ends the job for
/// strides that the standard excludes.
size_t checked_span(const char* function, const char* which, ptrdiff_t stride, const Strides& strides, int pe) noexcept;

/// Returns when `source` may be reused.
void strided_put(PeState& state, Context& context, const char* function, void* dest, const void* source,
                 const Strides& strides, int pe) noexcept;
/// Returns when the data is in `dest`.
void strided_get(PeState& state, Context& context, const char* function, void* dest, const void* source,
                 const Strides& strides, int pe) noexcept;

/// strided_put() and strided_get() as calls of the program; `in` is the context, or nothing.
template <class... In>
[[gnu::noinline]] void put_strided(void* dest, const void* source, const Strides& strides, CallTo call,
                                   In... in) noexcept {
  const Entry entry(call, in...);
  const Probe probe(
      entry.state, &entry.context,
      {observe::Kind::put, entry.function, strides.element * strides.block * strides.nblocks, entry.pe, dest});
  strided_put(entry.state, entry.context, entry.function, dest, source, strides, entry.pe);
}

template <class... In>
[[gnu::noinline]] void get_strided(void* dest, const void* source, const Strides& strides, CallTo call,
                                   In... in) noexcept {
  const Entry entry(call, in...);
  const Probe probe(
      entry.state, &entry.context,
      {observe::Kind::get, entry.function, strides.element * strides.block * strides.nblocks, entry.pe, source});
  strided_get(entry.state, entry.context, entry.function, dest, source, strides, entry.pe);
}

}  // namespace railshmem

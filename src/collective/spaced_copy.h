// SPDX-License-Identifier: BSD-3-Clause
// Copies of elements that do not lie side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "src/rma/copy_batch.h"

namespace railshmem {

/// The element size is a constant, so each element costs one load and one store.
template <size_t kElement>
inline void spaced_copy_of(std::byte* to, size_t to_step, const std::byte* from, size_t from_step, size_t n) noexcept {
  for (size_t i = 0; i < n; ++i, to += to_step, from += from_step) __builtin_memcpy(to, from, kElement);
}

/// Copies n elements of `element` bytes with the CPU; steps in bytes.
inline void spaced_copy(std::byte* to, size_t to_step, const std::byte* from, size_t from_step, size_t element,
                        size_t n) noexcept {
  if (to_step == element && from_step == element) {
    std::memcpy(to, from, n * element);
    return;
  }
  switch (element) {
    case 1:
      return spaced_copy_of<1>(to, to_step, from, from_step, n);
    case 2:
      return spaced_copy_of<2>(to, to_step, from, from_step, n);
    case 4:
      return spaced_copy_of<4>(to, to_step, from, from_step, n);
    case 8:
      return spaced_copy_of<8>(to, to_step, from, from_step, n);
    case 16:
      return spaced_copy_of<16>(to, to_step, from, from_step, n);
    default:
      for (size_t i = 0; i < n; ++i) std::memcpy(to + i * to_step, from + i * from_step, element);
  }
}

/// Copies n elements of `element` bytes with the CPU, or adds the copies to `copies` where copy engines do them.
inline void spaced_copy(CopyBatch& copies, std::byte* to, size_t to_step, const std::byte* from, size_t from_step,
                        size_t element, size_t n) noexcept {
  if (!copies.waits()) return spaced_copy(to, to_step, from, from_step, element, n);
  if (to_step == element && from_step == element) return copies.add(to, from, n * element);
  for (size_t i = 0; i < n; ++i, to += to_step, from += from_step) copies.add(to, from, element);
}

}  // namespace railshmem

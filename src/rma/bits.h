// SPDX-License-Identifier: BSD-3-Clause
// Values as words: the calls of all types of one size share the functions of their word.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace railshmem {

/// The unsigned integer of a type's size. A type that is longer than a word stands for itself.
template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t,
                       std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 8, uint64_t, T>>>>;

template <class T>
[[gnu::always_inline]] inline Bits<T> as_bits(T value) noexcept {
  Bits<T> bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

template <class T>
[[gnu::always_inline]] inline T from_bits(Bits<T> bits) noexcept {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace railshmem

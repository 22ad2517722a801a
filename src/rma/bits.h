// SPDX-License-Identifier: BSD-3-Clause
// Values as words: the calls of all types of one size share the functions of their word.
#pragma once

#include <cstdint>
#include <cstring>

namespace railshmem {

template <size_t kBytes, class T>
struct BitsOf {
  using Type = T;  // longer than a word: itself
};
template <class T>
struct BitsOf<1, T> {
  using Type = uint8_t;
};
template <class T>
struct BitsOf<2, T> {
  using Type = uint16_t;
};
template <class T>
struct BitsOf<4, T> {
  using Type = uint32_t;
};
template <class T>
struct BitsOf<8, T> {
  using Type = uint64_t;
};
template <class T>
using Bits = typename BitsOf<sizeof(T), T>::Type;

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

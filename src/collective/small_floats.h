// SPDX-License-Identifier: BSD-3-Clause
// Floating-point numbers of 16 bits, for compilers that know none: computed with as float, and rounded to nearest even
// after each operation. A float's 24 bits are enough for that to give what arithmetic in 16 bits would give.
#pragma once

#include <bit>
#include <cstdint>

namespace railshmem {

/// IEEE 754 binary16.
class Half {
 public:
  Half() = default;
  explicit constexpr Half(float value) noexcept : bits_(rounded(value)) {}

  constexpr float value() const noexcept {
    const uint32_t sign = (bits_ & 0x8000u) << 16, exponent = bits_ >> 10 & 31, fraction = bits_ & 0x3ffu;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }

 private:
  static constexpr uint16_t rounded(float value) noexcept {
    const auto all = std::bit_cast<uint32_t>(value);
    const uint32_t sign = all >> 16 & 0x8000u, magnitude = all & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0x7fff;                                  // no number: CUDA's form
    if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // from 65536 on
    if (magnitude < 0x38800000u) {                                               // below 2^-14: fewer bits
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;              // one unit here is 2^-24
      return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
    }
    const uint32_t rounding = 0xfffu + (magnitude >> 13 & 1);
    return static_cast<uint16_t>(sign | (magnitude - (112u << 23) + rounding) >> 13);
  }

  uint16_t bits_;
};

/// The upper half of a float.
class Bfloat16 {
 public:
  Bfloat16() = default;
  explicit constexpr Bfloat16(float value) noexcept : bits_(rounded(value)) {}

  constexpr float value() const noexcept { return std::bit_cast<float>(uint32_t{bits_} << 16); }

 private:
  static constexpr uint16_t rounded(float value) noexcept {
    const auto all = std::bit_cast<uint32_t>(value);
    if ((all & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return static_cast<uint16_t>((all + 0x7fffu + (all >> 16 & 1)) >> 16);
  }

  uint16_t bits_;
};

template <class T>
inline constexpr bool is_small_float = false;
template <>
inline constexpr bool is_small_float<Half> = true;
template <>
inline constexpr bool is_small_float<Bfloat16> = true;

}  // namespace railshmem

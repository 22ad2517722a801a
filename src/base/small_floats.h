// SPDX-License-Identifier: BSD-3-Clause
// Floating-point numbers of 16 and 8 bits, for compilers that know none: their values as float, and a float rounded to
// the nearest of them, ties to even. Where each operation is rounded, a float's 24 bits are enough to give what
// arithmetic in 16 bits would give.
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

/// Floating-point numbers of 8 bits (OCP 8-bit Floating Point Specification): kExponent bits of exponent, kFraction of
/// fraction. What is too large, infinities included, becomes the largest finite number, as in CUDA's conversions.
template <int kExponent, int kFraction, uint8_t kLargest>
class Float8 {
 public:
  Float8() = default;
  explicit constexpr Float8(float value) noexcept : bits_(rounded(value)) {}
  static constexpr Float8 of_bits(uint8_t bits) noexcept {
    Float8 made{};
    made.bits_ = bits;
    return made;
  }

  constexpr uint8_t bits() const noexcept { return bits_; }
  constexpr float value() const noexcept {
    const uint32_t sign = (bits_ & 0x80u) << 24, magnitude = bits_ & 0x7fu;
    if (magnitude > kInfinity) return std::bit_cast<float>(sign | 0x7fc00000u);
    if (kHasInfinity && magnitude == kInfinity) return std::bit_cast<float>(sign | 0x7f800000u);
    if (magnitude >= kLeastNormal) return std::bit_cast<float>(sign | ((magnitude + kRebias) << (23 - kFraction)));
    const float small = static_cast<float>(magnitude) * std::bit_cast<float>(kUnitExponent << 23);
    return sign != 0 ? -small : small;
  }

 private:
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr uint32_t kLeastNormal = 1u << kFraction;
  /// E5M2 has an infinity, E4M3 has only NaN behind its largest number.
  static constexpr bool kHasInfinity = kExponent == 5;
  static constexpr uint32_t kInfinity = kHasInfinity ? kLargest + 1u : kLargest;
  static constexpr uint32_t kRebias = static_cast<uint32_t>(127 - kBias) << kFraction;
  /// Of a float that is the distance of the smallest numbers.
  static constexpr uint32_t kUnitExponent = static_cast<uint32_t>(127 + 1 - kBias - kFraction);

  static constexpr uint8_t rounded(float value) noexcept {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    if constexpr (kExponent == 4) {  // this GPU has an instruction for two of them
      uint16_t two;
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(two) : "f"(0.0F), "f"(value));
      return static_cast<uint8_t>(two);
    }
#endif
    const auto all = std::bit_cast<uint32_t>(value);
    const uint32_t sign = all >> 24 & 0x80u, magnitude = all & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0x7f;  // no number: CUDA's form
    constexpr uint32_t kDropped = 23 - kFraction;
    if (magnitude < (static_cast<uint32_t>(128 - kBias) << 23)) {  // below the least normal number: fewer bits
      constexpr uint32_t kMagic = (kUnitExponent + 23) << 23;      // one unit in the last place is kUnitExponent's
      const float shifted = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kMagic);
      return static_cast<uint8_t>(sign | (std::bit_cast<uint32_t>(shifted) - kMagic));
    }
    const uint32_t rounding = (1u << (kDropped - 1)) - 1 + (magnitude >> kDropped & 1);
    const uint32_t bits = ((magnitude + rounding) >> kDropped) - kRebias;
    return static_cast<uint8_t>(sign | (bits > kLargest ? kLargest : bits));
  }

  uint8_t bits_;
};
using Float8E4M3 = Float8<4, 3, 0x7e>;  ///< largest number 448
using Float8E5M2 = Float8<5, 2, 0x7b>;  ///< largest number 57344

template <class T>
inline constexpr bool is_small_float = false;
template <>
inline constexpr bool is_small_float<Half> = true;
template <>
inline constexpr bool is_small_float<Bfloat16> = true;
template <>
inline constexpr bool is_small_float<Float8E4M3> = true;
template <>
inline constexpr bool is_small_float<Float8E5M2> = true;

}  // namespace railshmem

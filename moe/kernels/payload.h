// SPDX-License-Identifier: BSD-3-Clause
// What travels of a token: its channels as they are, or as 8-bit floats with a scale for each 128 of them.
#pragma once

#include "moe/kernels/packets.h"
#include "src/base/small_floats.h"

namespace railshmem::moe::kernels {

/// Units of tokens that a thread has loaded, for its three units that travel.
template <uint32_t kEach>
struct Held {
  Unit at[Pair::kUnits * kEach];

  /// The units of x that unit u of the row is made of, for the first `units` of the row.
  RAILSHMEM_KERNEL static Held of(const Part& part, const DispatchCall& call, uint32_t t, uint32_t i, uint32_t units) {
    const auto* const from = static_cast<const Unit*>(call.x) + uint64_t{t} * units * kEach;
    Held held{};
    RAILSHMEM_UNROLL
    for (uint32_t j = 0; j < Pair::kUnits; ++j) {
      const uint32_t u = i + j * part.layout().row_pairs();
      RAILSHMEM_UNROLL
      for (uint32_t k = 0; k < kEach; ++k)
        if (u < units) held.at[j * kEach + k] = copying::load(from + u * kEach + k);
    }
    return held;
  }
};

/// Whole channels. A payload loads a token before its experts are known, and makes what travels.
struct PlainPayload {
  static constexpr bool kScales = false;  ///< scales travel
  static constexpr bool kMakes = false;   ///< ... which look() finds out
  using Loaded = Held<1>;

  RAILSHMEM_KERNEL static uint32_t units(const Part& part) { return part.shape().row_nbytes() / kUnit; }
  RAILSHMEM_KERNEL static Loaded load(const Part& part, const DispatchCall& call, uint32_t t, uint32_t i) {
    return Loaded::of(part, call, t, i, units(part));
  }
  RAILSHMEM_KERNEL static void look(const Part&, Shared&, uint32_t, const Loaded&) {}
  RAILSHMEM_KERNEL static Pair make(const Part&, const DispatchCall&, const Shared&, uint32_t, uint32_t,
                                    const Loaded& loaded) {
    return {{loaded.at[0], loaded.at[1]}};
  }
};

/// Four scales in a unit behind the channels; zeros behind the last one. scale_of(g) gives the bits of one.
template <class ScaleOf>
RAILSHMEM_KERNEL inline Unit unit_of_scales(const Part& part, uint32_t first, const ScaleOf& scale_of) {
  uint32_t bits[4];
  RAILSHMEM_UNROLL
  for (uint32_t k = 0; k < 4; ++k) bits[k] = first + k < part.shape().groups() ? scale_of(first + k) : 0;
  return {uint64_t{bits[1]} << 32 | bits[0], uint64_t{bits[3]} << 32 | bits[2]};
}

/// Elements of 8 bits and their scales, as the program gives them.
struct GivenPayload : PlainPayload {
  static constexpr bool kScales = true;

  RAILSHMEM_KERNEL static Pair make(const Part& part, const DispatchCall& call, const Shared&, uint32_t t, uint32_t i,
                                    const Loaded& loaded) {
    const float* const scales = call.x_scales + uint64_t{t} * part.shape().groups();
    Pair pair;
    RAILSHMEM_UNROLL
    for (uint32_t j = 0; j < Pair::kUnits; ++j) {
      const uint32_t u = i + j * part.layout().row_pairs();
      pair.at[j] = u < units(part)
                       ? loaded.at[j]
                       : unit_of_scales(part, 4 * (u - units(part)), [&](uint32_t g) { return bits_of(scales[g]); });
    }
    return pair;
  }
};

/// The power of two that is not less than a float, which is no less than the least normal one.
RAILSHMEM_KERNEL inline float power_from(float value) {
  const uint32_t bits = bits_of(value);
  return float_of((bits & 0x7f800000u) + ((bits & 0x7fffffu) != 0 ? 0x800000u : 0u));
}

/// T: of the tokens. Two units of a token become one. kPowers: scales are powers of two.
template <class T, bool kPowers>
struct ScaledPayload {
  static constexpr bool kScales = true, kMakes = true;
  static constexpr uint32_t kElements = kUnit / sizeof(T), kEach = 2;
  static constexpr uint32_t kUnitsOfGroup = kScaled / kUnit;  ///< units of the row
  static constexpr float kLargest = 448.0F, kLeast = 1e-4F;
  using Loaded = Held<kEach>;
  struct alignas(kUnit) Elements {
    T at[kElements];
  };

  RAILSHMEM_KERNEL static Loaded load(const Part& part, const DispatchCall& call, uint32_t t, uint32_t i) {
    return Loaded::of(part, call, t, i, PlainPayload::units(part));
  }
  /// Finds the largest channel of each group. The whole block meets before and behind it.
  RAILSHMEM_KERNEL static void look(const Part& part, Shared& shared, uint32_t i, const Loaded& loaded) {
    RAILSHMEM_UNROLL
    for (uint32_t j = 0; j < Pair::kUnits; ++j) {
      const uint32_t u = i + j * part.layout().row_pairs();
      uint32_t most = 0;
      RAILSHMEM_UNROLL
      for (uint32_t k = 0; k < kEach; ++k) most = larger(most, most_of(loaded.at[j * kEach + k]));
      if (u < PlainPayload::units(part)) raise_to(&shared.most[u / kUnitsOfGroup], most);
    }
  }
  /// As look(), of units that have not been loaded.
  RAILSHMEM_KERNEL static void look_at(const Part& part, const DispatchCall& call, Shared& shared, uint32_t t,
                                       uint32_t i) {
    const uint32_t units = PlainPayload::units(part);
    const auto* const from = static_cast<const Unit*>(call.x) + uint64_t{t} * units * kEach;
    RAILSHMEM_NO_UNROLL
    for (uint32_t u = i; u < units; u += part.layout().row_pairs())
      raise_to(&shared.most[u / kUnitsOfGroup], larger(most_of(from[u * kEach]), most_of(from[u * kEach + 1])));
  }
  RAILSHMEM_KERNEL static Pair make(const Part& part, const DispatchCall&, const Shared& shared, uint32_t, uint32_t i,
                                    const Loaded& loaded) {
    Pair pair;
    RAILSHMEM_UNROLL
    for (uint32_t j = 0; j < Pair::kUnits; ++j) {
      const uint32_t u = i + j * part.layout().row_pairs(), units = PlainPayload::units(part);
      if (u >= units) {
        pair.at[j] = unit_of_scales(part, 4 * (u - units),
                                    [&](uint32_t g) { return bits_of(scale_of(float_of(shared.most[g]))); });
        continue;
      }
      const float most = float_of(shared.most[u / kUnitsOfGroup]);
      const float factor = kPowers ? 1.0F / scale_of(most) : kLargest / most;
      pair.at[j] = {made(loaded.at[j * kEach], factor), made(loaded.at[j * kEach + 1], factor)};
    }
    return pair;
  }

 private:
  RAILSHMEM_KERNEL static uint32_t larger(uint32_t a, uint32_t b) { return a < b ? b : a; }
  /// Bits of the largest channel, but of kLeast at least. Bits of floats without signs are ordered as the floats are.
  RAILSHMEM_KERNEL static uint32_t most_of(const Unit& unit) {
    const auto elements = of_unit<Elements>(unit);
    uint32_t most = bits_of(kLeast);
    RAILSHMEM_UNROLL
    for (uint32_t e = 0; e < kElements; ++e) most = larger(most, bits_of(elements.at[e].value()) & 0x7fffffffu);
    return most;
  }
  RAILSHMEM_KERNEL static float scale_of(float most) { return kPowers ? power_from(most / kLargest) : most / kLargest; }
  RAILSHMEM_KERNEL static uint64_t made(const Unit& unit, float factor) {
    const auto elements = of_unit<Elements>(unit);
    uint64_t made = 0;
    RAILSHMEM_UNROLL
    for (uint32_t e = 0; e < kElements; ++e)
      made |= uint64_t{Float8E4M3(elements.at[e].value() * factor).bits()} << (8 * e);
    return made;
  }
};

}  // namespace railshmem::moe::kernels

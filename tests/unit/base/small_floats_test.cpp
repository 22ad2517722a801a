// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/small_floats.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "src/collective/reduce_ops.h"

namespace railshmem {
namespace {

template <class T>
T of_bits(uint16_t bits) {
  return std::bit_cast<T>(bits);
}
template <class T>
uint16_t bits_of(T number) {
  return std::bit_cast<uint16_t>(number);
}

template <class T>
class SmallFloats : public ::testing::Test {};
using Types = ::testing::Types<Half, Bfloat16>;
TYPED_TEST_SUITE(SmallFloats, Types);

/// Checks by the value, not by the algorithm of the class: neither neighbour is nearer, and of two equally near ones
/// the even one is right.
template <class T>
void expect_nearest(float value) {
  const T rounded(value);
  const double error = std::abs(static_cast<double>(rounded.value()) - value);
  const auto magnitude = static_cast<uint16_t>(bits_of(rounded) & 0x7fff);
  for (const int step : {-1, 1}) {
    if (magnitude == 0 && step < 0) continue;
    const float beside = of_bits<T>(static_cast<uint16_t>((bits_of(rounded) & 0x8000) | (magnitude + step))).value();
    const double other = std::abs(static_cast<double>(beside) - value);
    ASSERT_TRUE(error < other || (error == other && magnitude % 2 == 0)) << value << " became " << rounded.value();
  }
}

TYPED_TEST(SmallFloats, EveryOneIsItselfAsFloatAndBack) {
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const auto number = of_bits<TypeParam>(static_cast<uint16_t>(bits));
    if (std::isnan(number.value())) {
      EXPECT_TRUE(std::isnan(TypeParam(number.value()).value())) << bits;
    } else {
      ASSERT_EQ(bits_of(TypeParam(number.value())), bits);
    }
  }
}

TYPED_TEST(SmallFloats, RoundToTheNearest) {
  std::mt19937 random(7);
  const bool half = std::is_same_v<TypeParam, Half>;
  std::uniform_real_distribution<float> exponent(half ? -26.0f : -120.0f, half ? 15.9f : 126.0f);
  for (int i = 0; i < 200000; ++i) {
    const float value = std::exp2(exponent(random)) * (i % 2 == 0 ? 1.0f : -1.0f);
    expect_nearest<TypeParam>(value);
  }
  for (unsigned bits = 0; bits < (half ? 0x7bffu : 0x7f7fu); ++bits) {  // just between two neighbours
    const float low = of_bits<TypeParam>(static_cast<uint16_t>(bits)).value();
    const float high = of_bits<TypeParam>(static_cast<uint16_t>(bits + 1)).value();
    expect_nearest<TypeParam>(static_cast<float>((static_cast<double>(low) + high) / 2));
  }
}

TEST(Half, KnownNumbers) {
  EXPECT_EQ(bits_of(Half(1.0f)), 0x3c00);
  EXPECT_EQ(bits_of(Half(-2.5f)), 0xc100);
  EXPECT_EQ(bits_of(Half(65504.0f)), 0x7bff);
  EXPECT_EQ(bits_of(Half(65519.0f)), 0x7bff);
  EXPECT_EQ(bits_of(Half(65520.0f)), 0x7c00);  // infinity
  EXPECT_EQ(bits_of(Half(-1e30f)), 0xfc00);
  EXPECT_EQ(bits_of(Half(0x1p-24f)), 0x0001);
  EXPECT_EQ(bits_of(Half(0x1p-25f)), 0x0000);
  EXPECT_EQ(bits_of(Half(-0.0f)), 0x8000);
}

TEST(Bfloat16, KnownNumbers) {
  EXPECT_EQ(bits_of(Bfloat16(1.0f)), 0x3f80);
  EXPECT_EQ(bits_of(Bfloat16(-2.5f)), 0xc020);
  EXPECT_EQ(bits_of(Bfloat16(std::numeric_limits<float>::max())), 0x7f80);  // infinity
  EXPECT_EQ(bits_of(Bfloat16(-0.0f)), 0x8000);
}

TYPED_TEST(SmallFloats, AreReduced) {
  constexpr size_t kN = 5;
  const float x[kN] = {1, -2, 3.5f, 100, -0.25f}, y[kN] = {2, -3, -1.5f, 0.03125f, 4};
  TypeParam a[kN], b[kN], out[kN];
  for (size_t i = 0; i < kN; ++i) {
    a[i] = TypeParam(x[i]);
    b[i] = TypeParam(y[i]);
  }
  const auto run = [&](ReduceOp op) { find_combine(op, type_kind<TypeParam>())(out, a, b, kN); };
  run(ReduceOp::sum);
  for (size_t i = 0; i < kN; ++i) EXPECT_EQ(bits_of(out[i]), bits_of(TypeParam(x[i] + y[i]))) << i;
  run(ReduceOp::prod);
  for (size_t i = 0; i < kN; ++i) EXPECT_EQ(bits_of(out[i]), bits_of(TypeParam(x[i] * y[i]))) << i;
  run(ReduceOp::max);
  for (size_t i = 0; i < kN; ++i) EXPECT_EQ(out[i].value(), std::max(x[i], y[i])) << i;
  run(ReduceOp::min);
  for (size_t i = 0; i < kN; ++i) EXPECT_EQ(out[i].value(), std::min(x[i], y[i])) << i;
}

template <class T>
class SmallestFloats : public ::testing::Test {};
using EightBits = ::testing::Types<Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(SmallestFloats, EightBits);

TYPED_TEST(SmallestFloats, EveryOneIsItselfAsFloatAndBack) {
  for (unsigned bits = 0; bits <= 0xff; ++bits) {
    const auto number = TypeParam::of_bits(static_cast<uint8_t>(bits));
    if (std::isnan(number.value())) {
      EXPECT_TRUE(std::isnan(TypeParam(number.value()).value())) << bits;
    } else if (std::isfinite(number.value())) {
      EXPECT_EQ(TypeParam(number.value()).bits(), bits);
    }
  }
}

/// Between two neighbours the nearer one is right, and half way the even one.
TYPED_TEST(SmallestFloats, RoundToTheNearest) {
  for (uint8_t bits = 0; std::isfinite(TypeParam::of_bits(static_cast<uint8_t>(bits + 1)).value()); ++bits) {
    const float below = TypeParam::of_bits(bits).value();
    const float above = TypeParam::of_bits(static_cast<uint8_t>(bits + 1)).value();
    const float middle = (below + above) / 2;
    EXPECT_EQ(TypeParam(middle).bits(), bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(TypeParam(std::nextafter(middle, below)).bits(), bits);
    EXPECT_EQ(TypeParam(std::nextafter(middle, above)).bits(), bits + 1);
    EXPECT_EQ(TypeParam(-std::nextafter(middle, above)).bits(), 0x80 | (bits + 1));
  }
}

TEST(EightBitFloats, WhatIsTooLargeBecomesTheLargest) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Float8E4M3(448.0f).bits(), 0x7e);
  EXPECT_EQ(Float8E4M3(1e9f).value(), 448.0f);
  EXPECT_EQ(Float8E4M3(-infinity).value(), -448.0f);
  EXPECT_EQ(Float8E5M2(57344.0f).bits(), 0x7b);
  EXPECT_EQ(Float8E5M2(infinity).value(), 57344.0f);
  EXPECT_TRUE(std::isinf(Float8E5M2::of_bits(0x7c).value()));
  EXPECT_EQ(Float8E4M3(std::nanf("")).bits(), 0x7f);
}

}  // namespace
}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/reduce_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "src/collective/reduction.h"

namespace railshmem {
namespace {

template <class T>
T combined(ReduceOp op, T a, T b) {
  T out{};
  find_combine(op, type_kind<T>())(&out, &a, &b, 1);
  return out;
}

/// Every length up to a few vectors long, at every alignment, into another array and over either operand.
template <class T>
void expect_all_lengths() {
  const Combine sum = find_combine(ReduceOp::sum, type_kind<T>());
  for (size_t shift = 0; shift < 4; ++shift)
    for (size_t n = 0; n < 70; ++n) {
      std::vector<T> a(n + 8), b(n + 8), out(n + 8, T{77});
      for (size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<T>(i % 50);
        b[i] = static_cast<T>(i % 7);
      }
      const std::vector<T> first = a;
      sum(out.data() + shift, a.data() + shift, b.data() + shift, n);
      for (size_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], i >= shift && i < shift + n ? static_cast<T>(first[i] + b[i]) : T{77}) << n << " " << i;
      sum(a.data() + shift, a.data() + shift, b.data() + shift, n);
      for (size_t i = shift; i < shift + n; ++i) ASSERT_EQ(a[i], out[i]) << "over the first operand";
      a = first;
      sum(b.data() + shift, a.data() + shift, b.data() + shift, n);
      for (size_t i = shift; i < shift + n; ++i) ASSERT_EQ(b[i], out[i]) << "over the second operand";
      sum(a.data() + shift, a.data() + shift, a.data() + shift, n);
      for (size_t i = shift; i < shift + n; ++i) ASSERT_EQ(a[i], static_cast<T>(2 * first[i])) << "over both";
    }
}

TEST(ReduceOps, LengthsAlignmentsAndPlace) {
  expect_all_lengths<int8_t>();
  expect_all_lengths<uint16_t>();
  expect_all_lengths<int32_t>();
  expect_all_lengths<uint64_t>();
  expect_all_lengths<float>();
  expect_all_lengths<double>();
  expect_all_lengths<long double>();
}

TEST(ReduceOps, IntegersWrap) {
  EXPECT_EQ(combined<int8_t>(ReduceOp::sum, 127, 1), -128);
  EXPECT_EQ(combined<uint8_t>(ReduceOp::sum, 255, 2), 1);
  EXPECT_EQ(combined<uint16_t>(ReduceOp::prod, 65535, 65535), 1);  // would overflow the int it is promoted to
  EXPECT_EQ(combined<int32_t>(ReduceOp::prod, INT32_MAX, 2), -2);
  EXPECT_EQ(combined<int64_t>(ReduceOp::sum, INT64_MAX, 1), INT64_MIN);
  EXPECT_EQ(combined<int64_t>(ReduceOp::prod, INT64_MIN, -1), INT64_MIN);
}

TEST(ReduceOps, OrderKnowsTheSign) {
  EXPECT_EQ(combined<int8_t>(ReduceOp::max, -1, 1), 1);
  EXPECT_EQ(combined<uint8_t>(ReduceOp::max, 255, 1), 255);
  EXPECT_EQ(combined<int64_t>(ReduceOp::min, -1, 1), -1);
  EXPECT_EQ(combined<uint64_t>(ReduceOp::min, UINT64_MAX, 1), 1u);
  EXPECT_EQ(combined<float>(ReduceOp::max, -2, -1), -1);
  EXPECT_EQ(combined<long double>(ReduceOp::min, -2, -1), -2);
  EXPECT_EQ(combined<double>(ReduceOp::max, -std::numeric_limits<double>::infinity(), -1e300), -1e300);
}

TEST(ReduceOps, Bits) {
  EXPECT_EQ(combined<int32_t>(ReduceOp::bit_and, -1, 6), 6);
  EXPECT_EQ(combined<uint16_t>(ReduceOp::bit_or, 0xf0, 0x0f), 0xff);
  EXPECT_EQ(combined<int64_t>(ReduceOp::bit_xor, -1, -1), 0);
}

TEST(ReduceOps, ComplexNumbers) {
  ComplexDouble a, b;
  __real__ a = 1;
  __imag__ a = 2;
  __real__ b = 3;
  __imag__ b = -1;
  const ComplexDouble sum = combined(ReduceOp::sum, a, b);
  EXPECT_EQ(__real__ sum, 4);
  EXPECT_EQ(__imag__ sum, 1);
  const ComplexDouble product = combined(ReduceOp::prod, a, b);
  EXPECT_EQ(__real__ product, 5);
  EXPECT_EQ(__imag__ product, 5);
}

TEST(ReduceOps, ExistsForWhatTheStandardLists) {
  const auto exists = [](ReduceOp op, TypeKind kind) { return find_combine(op, kind) != nullptr; };
  for (int k = 0; k < kTypeKinds; ++k) {
    const auto kind = static_cast<TypeKind>(k);
    const bool integer = kind <= TypeKind::u64;
    const bool complex = kind == TypeKind::c32 || kind == TypeKind::c64;
    for (const ReduceOp op : {ReduceOp::bit_and, ReduceOp::bit_or, ReduceOp::bit_xor})
      EXPECT_EQ(exists(op, kind), integer);
    for (const ReduceOp op : {ReduceOp::max, ReduceOp::min}) EXPECT_EQ(exists(op, kind), !complex);
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod}) EXPECT_TRUE(exists(op, kind));
  }
}

TEST(ReduceOps, TypesOfOneRepresentationShareTheirCode) {
  EXPECT_EQ(type_kind<long>(), type_kind<long long>());
  EXPECT_EQ(type_kind<size_t>(), type_kind<unsigned long long>());
  EXPECT_NE(type_kind<signed char>(), type_kind<unsigned char>());
  EXPECT_EQ(find_combine(ReduceOp::sum, TypeKind::i32), find_combine(ReduceOp::sum, TypeKind::u32));
  EXPECT_NE(find_combine(ReduceOp::max, TypeKind::i32), find_combine(ReduceOp::max, TypeKind::u32));
}

/// Parts follow each other without a gap, hold everything, and meet only at cache lines.
TEST(Reduction, PartsCoverTheVector) {
  for (const size_t element : {1, 2, 4, 8, 16})
    for (const int parts : {1, 2, 3, 7, 64})
      for (const size_t n : {size_t{1}, size_t{5}, size_t{63}, size_t{64}, size_t{1000}, size_t{123457}}) {
        size_t next = 0;
        for (int p = 0; p < parts; ++p) {
          const Part part = part_of(n, element, p, parts);
          ASSERT_EQ(part.first, next) << n << " elements of " << element << ", part " << p << " of " << parts;
          ASSERT_TRUE(part.count == 0 || part.first * element % 64 == 0);
          next += part.count;
        }
        ASSERT_EQ(next, n);
      }
}

}  // namespace
}  // namespace railshmem

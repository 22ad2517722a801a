// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/kernels/sum.h"

#include <gtest/gtest.h>

#include <vector>

namespace railshmem::overlap {
namespace {

void add(const SumCall& call) {
  constexpr uint64_t kThreads = 7;
  for (uint64_t thread = 0; thread < kThreads; ++thread) kernels::sum(call, thread, kThreads);
}

TEST(OverlapSum, GoesInTheOrderOfRanks) {
  // 1e8 + 1 - 1e8 depends on the order.
  std::vector<float> a(10, 1e8f), b(10, 1.0f), c(10, -1e8f), dest(10);
  SumCall call{};
  call.operand[0] = a.data();
  call.operand[1] = c.data();
  call.operand[2] = b.data();
  call.dest = dest.data();
  call.nelems = dest.size();
  call.n = 3;
  call.element = Element::float32;
  add(call);
  EXPECT_EQ(dest, std::vector<float>(10, 1.0f));
  std::swap(call.operand[1], call.operand[2]);
  add(call);
  EXPECT_EQ(dest, std::vector<float>(10, 0.0f));
}

TEST(OverlapSum, RoundsOnceAndGoesInPlace) {
  // 256 + 1 + 1: rounded after each step it would stay 256.
  std::vector<Bfloat16> a(19, Bfloat16(1)), b(19, Bfloat16(256)), c(19, Bfloat16(1));
  SumCall call{};
  call.operand[0] = b.data();
  call.operand[1] = a.data();
  call.operand[2] = c.data();
  call.dest = c.data();
  call.nelems = c.size();
  call.n = 3;
  call.element = Element::bfloat16;
  add(call);
  for (const Bfloat16 value : c) EXPECT_EQ(value.value(), 258.0f);
}

TEST(OverlapSum, MisalignedOperandsGoElementByElement) {
  std::vector<Half> a(20, Half(2)), b(20, Half(3)), dest(20, Half(0));
  SumCall call{};
  call.operand[0] = a.data() + 1;
  call.operand[1] = b.data();
  call.dest = dest.data();
  call.nelems = 19;
  call.n = 2;
  call.element = Element::half;
  add(call);
  for (size_t i = 0; i < 19; ++i) EXPECT_EQ(dest[i].value(), 5.0f);
  EXPECT_EQ(dest[19].value(), 0.0f);
}

}  // namespace
}  // namespace railshmem::overlap

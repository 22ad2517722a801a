// SPDX-License-Identifier: BSD-3-Clause
#include "src/channel/watermark.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <random>

namespace railshmem {
namespace {

TEST(Watermark, InOrderAdvancesByOne) {
  Watermark watermark(64);
  for (uint64_t ticket = 0; ticket < 1000; ++ticket) EXPECT_EQ(watermark.complete(ticket), ticket + 1);
}

TEST(Watermark, PublishesPrefixNotCount) {
  Watermark watermark(64);
  EXPECT_EQ(watermark.complete(1), 0u);
  EXPECT_EQ(watermark.complete(3), 0u);
  EXPECT_EQ(watermark.complete(0), 2u);
  EXPECT_EQ(watermark.complete(2), 4u);
}

TEST(Watermark, WholeWindowInReverseFinishesAtOnce) {
  for (const size_t window : {64u, 128u, 8192u}) {
    Watermark watermark(window);
    for (uint64_t lap = 0; lap < 3; ++lap) {
      // an odd start: the run crosses word borders and the bitmap's end
      const uint64_t start = watermark.prefix();
      for (uint64_t i = window; i-- > 1;) ASSERT_EQ(watermark.complete(start + i), start);
      ASSERT_EQ(watermark.complete(start), start + window);
      ASSERT_EQ(watermark.complete(start + window), start + window + 1);
    }
  }
}

TEST(Watermark, EveryOrderOfSixTicketsAcrossAWordBorder) {
  std::vector<uint64_t> order(6);
  std::iota(order.begin(), order.end(), 61);
  do {
    Watermark watermark(64);
    for (uint64_t ticket = 0; ticket < 61; ++ticket) watermark.complete(ticket);
    std::vector<bool> done(70, false);
    for (const uint64_t ticket : order) {
      done[ticket] = true;
      uint64_t expected = 61;
      while (done[expected]) ++expected;
      ASSERT_EQ(watermark.complete(ticket), expected);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Watermark, RandomOrderAgreesWithASlowModel) {
  std::mt19937_64 random(20261123);
  for (const size_t window : {64u, 256u}) {
    Watermark watermark(window);
    std::deque<bool> done;  // of tickets from the prefix on
    std::vector<uint64_t> flying;
    uint64_t prefix = 0, next = 0;
    for (int step = 0; step < 200000; ++step) {
      if (next - prefix < window && (flying.empty() || random() % 2 == 0)) {
        flying.push_back(next++);
        done.push_back(false);
        continue;
      }
      const size_t pick = random() % flying.size();
      const uint64_t ticket = flying[pick];
      flying[pick] = flying.back();
      flying.pop_back();
      done[ticket - prefix] = true;
      while (!done.empty() && done.front()) {
        done.pop_front();
        ++prefix;
      }
      ASSERT_EQ(watermark.complete(ticket), prefix);
    }
  }
}

}  // namespace
}  // namespace railshmem

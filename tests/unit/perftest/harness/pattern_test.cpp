// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/pattern.h"

#include <gtest/gtest.h>

#include <vector>

namespace railshmem::perf {
namespace {

TEST(PerftestPattern, FillAndFindAgreeForEverySmallSize) {
  for (size_t n = 1; n <= 40; ++n) {
    std::vector<uint8_t> buffer(n + 1, 0xee);
    fill_pattern(buffer.data(), n, 3, 7);
    EXPECT_FALSE(find_mismatch(buffer.data(), n, 3, 7)) << n;
    EXPECT_EQ(buffer[n], 0xee) << "wrote beyond " << n;
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(buffer[i], pattern_byte(3, 7, i));
  }
}

TEST(PerftestPattern, EverySingleWrongByteIsFound) {
  std::vector<uint8_t> buffer(100);
  fill_pattern(buffer.data(), buffer.size(), 0, 0);
  for (size_t i = 0; i < buffer.size(); ++i) {
    buffer[i] ^= 1;
    EXPECT_EQ(find_mismatch(buffer.data(), buffer.size(), 0, 0), i);
    buffer[i] ^= 1;
  }
}

TEST(PerftestPattern, OtherSendersRoundsAndOffsetsDiffer) {
  std::vector<uint8_t> buffer(64);
  fill_pattern(buffer.data(), buffer.size(), 1, 5);
  EXPECT_TRUE(find_mismatch(buffer.data(), buffer.size(), 2, 5));
  EXPECT_TRUE(find_mismatch(buffer.data(), buffer.size(), 1, 6));
  EXPECT_TRUE(find_mismatch(buffer.data(), buffer.size(), 1, 4));
  EXPECT_TRUE(find_mismatch(buffer.data() + 8, buffer.size() - 8, 1, 5));
  const std::vector<uint8_t> zeros(64);
  EXPECT_EQ(find_mismatch(zeros.data(), zeros.size(), 1, 5).has_value(), true);
}

}  // namespace
}  // namespace railshmem::perf

// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/checksum.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace railshmem {
namespace {

TEST(Checksum, AgreesWithThePublishedValues) {
  EXPECT_EQ(crc32c("123456789", 9), 0xe3069283u);
  const std::vector<unsigned char> zeros(32), ones(32, 0xff);
  EXPECT_EQ(crc32c(zeros.data(), 32), 0x8a9136aau) << "RFC 3720";
  EXPECT_EQ(crc32c(ones.data(), 32), 0x62a8ab43u) << "RFC 3720";
}

TEST(Checksum, TheTableAndTheCpuAgreeAtEveryLength) {
  std::vector<unsigned char> bytes(300);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 37 + 11);
  for (size_t n = 0; n < bytes.size() - 1; ++n) {
    EXPECT_EQ(crc32c(bytes.data(), n), crc32c_by_table(bytes.data(), n));
    EXPECT_EQ(crc32c(bytes.data() + 1, n), crc32c_by_table(bytes.data() + 1, n)) << "unaligned";
  }
}

// The sum of TCP does not see that: it adds words of 16 bits.
TEST(Checksum, TwoWordsThatChangePlacesAreFound) {
  std::vector<unsigned char> bytes{1, 2, 3, 4, 5, 6, 7, 8};
  const uint32_t before = crc32c(bytes.data(), bytes.size());
  std::swap(bytes[0], bytes[4]);
  std::swap(bytes[1], bytes[5]);
  EXPECT_NE(crc32c(bytes.data(), bytes.size()), before);
}

}  // namespace
}  // namespace railshmem

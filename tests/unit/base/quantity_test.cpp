// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/quantity.h"

#include <gtest/gtest.h>

namespace railshmem {
namespace {

TEST(Quantity, OneIsSingular) {
  EXPECT_EQ(counted(0, "PE"), "0 PEs");
  EXPECT_EQ(counted(1, "PE"), "1 PE");
  EXPECT_EQ(counted(12, "byte"), "12 bytes");
}

TEST(Quantity, MemoryIsInTheLargestUnitThatLeavesOne) {
  EXPECT_EQ(memory_size(0), "0 bytes");
  EXPECT_EQ(memory_size(1), "1 byte");
  EXPECT_EQ(memory_size(1023), "1023 bytes");
  EXPECT_EQ(memory_size(1024), "1 KiB");
  EXPECT_EQ(memory_size(1536), "1.5 KiB");
  EXPECT_EQ(memory_size(512u << 20), "512 MiB");
  EXPECT_EQ(memory_size((1u << 30) - 1), "1 GiB");
  EXPECT_EQ(memory_size((512u << 20) + (2u << 20) + 4096), "514 MiB");
  EXPECT_EQ(memory_size(uint64_t{16} << 30), "16 GiB");
  EXPECT_EQ(memory_size(UINT64_MAX), "16384 PiB");
}

}  // namespace
}  // namespace railshmem

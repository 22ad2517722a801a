// SPDX-License-Identifier: BSD-3-Clause
#include "src/team/lots.h"

#include <gtest/gtest.h>

#include <array>

#include "src/base/error.h"

namespace railshmem {
namespace {

constexpr size_t kLotBytes = 32;

TEST(Lots, ATakenLotIsFreeAgainWhenItIsGivenBack) {
  std::array<std::byte, 3 * kLotBytes> memory{};
  Lots lots(memory.data(), kLotBytes, 3);
  EXPECT_EQ(lots.free(), 0b111u);
  EXPECT_EQ(lots.take(1), memory.data() + kLotBytes);
  EXPECT_EQ(lots.free(), 0b101u);
  EXPECT_EQ(lots.take(1), nullptr) << "another team has it";
  lots.give_back(memory.data() + kLotBytes);
  EXPECT_EQ(lots.free(), 0b111u);
  EXPECT_EQ(lots.take(1), memory.data() + kLotBytes);
}

TEST(Lots, ALotWithoutMemoryStaysFree) {
  std::array<std::byte, 2 * kLotBytes> memory{};
  Lots lots(memory.data(), kLotBytes, 2, [&](std::byte* lot) {
    if (lot == memory.data()) throw Error("no memory");
  });
  EXPECT_EQ(lots.take(0), nullptr);
  EXPECT_EQ(lots.free(), 0b11u);
  EXPECT_EQ(lots.take(1), memory.data() + kLotBytes);
}

}  // namespace
}  // namespace railshmem

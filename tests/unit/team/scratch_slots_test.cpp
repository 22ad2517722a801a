// SPDX-License-Identifier: BSD-3-Clause
#include "src/team/scratch_slots.h"

#include <gtest/gtest.h>

#include <array>

#include "src/base/error.h"

namespace railshmem {
namespace {

constexpr size_t kSlotBytes = 32;

TEST(ScratchSlots, ATakenSlotIsFreeAgainWhenItIsGivenBack) {
  std::array<std::byte, 3 * kSlotBytes> memory{};
  ScratchSlots scratch_slots(memory.data(), kSlotBytes, 3);
  EXPECT_EQ(scratch_slots.free(), 0b111u);
  EXPECT_EQ(scratch_slots.take(1), memory.data() + kSlotBytes);
  EXPECT_EQ(scratch_slots.free(), 0b101u);
  EXPECT_EQ(scratch_slots.take(1), nullptr) << "another team has it";
  scratch_slots.give_back(memory.data() + kSlotBytes);
  EXPECT_EQ(scratch_slots.free(), 0b111u);
  EXPECT_EQ(scratch_slots.take(1), memory.data() + kSlotBytes);
}

TEST(ScratchSlots, ASlotWithoutMemoryStaysFree) {
  std::array<std::byte, 2 * kSlotBytes> memory{};
  ScratchSlots scratch_slots(memory.data(), kSlotBytes, 2, [&](std::byte* slot) {
    if (slot == memory.data()) throw Error("no memory");
  });
  EXPECT_EQ(scratch_slots.take(0), nullptr);
  EXPECT_EQ(scratch_slots.free(), 0b11u);
  EXPECT_EQ(scratch_slots.take(1), memory.data() + kSlotBytes);
}

}  // namespace
}  // namespace railshmem

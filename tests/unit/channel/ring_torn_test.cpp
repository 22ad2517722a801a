// SPDX-License-Identifier: BSD-3-Clause
// A slot is seen whole or not at all, whatever the order in which its stores arrive.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/support/ring_fixture.h"

namespace railshmem {
namespace {

uint64_t* half(Slot& slot, int i) {
  return i % 2 == 0 ? &slot.word[i / 2].lo : &slot.word[i / 2].hi;
}

/// Calls `check` for each of the 2520 orders of the eight halves in which every word's lo comes before its hi.
void for_each_order(std::vector<int>& order, uint32_t taken,
                    const std::function<void(const std::vector<int>&)>& check) {
  if (order.size() == 8) return check(order);
  for (int i = 0; i < 8; ++i) {
    if ((taken >> i & 1) != 0 || (i % 2 == 1 && (taken >> (i - 1) & 1) == 0)) continue;
    order.push_back(i);
    for_each_order(order, taken | 1u << i, check);
    order.pop_back();
  }
}

TEST(Ring, TornSlotIsInvisibleInEveryOrderOfItsStores) {
  int orders = 0;
  std::vector<int> order;
  for_each_order(order, 0, [&](const std::vector<int>& stores) {
    ++orders;
    TestRing bench(0);  // one slot: every lap overwrites the last command
    for (uint64_t ticket = 0; ticket < 3; ++ticket) {
      Slot encoded = encode(command_of(ticket + 77), lap_bit(ticket, 0));
      for (const int i : stores) {
        ASSERT_FALSE(bench.ring.peek()) << "after fewer than eight stores";
        portable::store_release(half(bench.memory.slots[0], i), *half(encoded, i));
      }
      const auto command = bench.ring.peek();
      ASSERT_TRUE(command && *command == command_of(ticket + 77));
      bench.ring.pop();
    }
  });
  EXPECT_EQ(orders, 2520);
}

}  // namespace
}  // namespace railshmem

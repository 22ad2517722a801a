// SPDX-License-Identifier: BSD-3-Clause
// The small tables behind the registration cache, each against a plain model.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "transports/ofi/counted_ranges.h"
#include "transports/ofi/slot_table.h"

namespace railshmem::ofi {
namespace {

TEST(PageRange, CoversTheWholePagesOfAnyBytes) {
  const auto* p = reinterpret_cast<const std::byte*>(5 * kPageBytes + 100);
  EXPECT_EQ(pages_of(p, 1), (PageRange{5 * kPageBytes, 6 * kPageBytes}));
  EXPECT_EQ(pages_of(p, kPageBytes - 100), (PageRange{5 * kPageBytes, 6 * kPageBytes}));
  EXPECT_EQ(pages_of(p, kPageBytes - 99), (PageRange{5 * kPageBytes, 7 * kPageBytes}));
}

TEST(CountedRanges, TellsPagesThatNobodyWantsAnyMore) {
  constexpr size_t kPages = 40;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    CountedRanges counted;
    std::vector<int> model(kPages, 0);
    std::vector<PageRange> added;
    for (int step = 0; step < 5000; ++step) {
      if (added.size() < 12 && random() % 2 == 0) {
        const size_t begin = random() % kPages;
        const PageRange range{begin, begin + 1 + random() % (kPages - begin)};
        counted.add(range);
        added.push_back(range);
        for (size_t page = range.begin; page < range.end; ++page) ++model[page];
      } else if (!added.empty()) {
        const size_t which = random() % added.size();
        const PageRange range = added[which];
        added.erase(added.begin() + static_cast<std::ptrdiff_t>(which));
        std::vector<int> told(kPages, 0);
        size_t end_of_last = ~size_t{0};
        counted.remove(range, [&](const PageRange& run) {
          EXPECT_LT(run.begin, run.end);
          EXPECT_NE(run.begin, end_of_last) << "two runs where one would do";
          end_of_last = run.end;
          for (size_t page = run.begin; page < run.end; ++page) ++told[page];
        });
        for (size_t page = range.begin; page < range.end; ++page) --model[page];
        for (size_t page = 0; page < kPages; ++page) {
          const bool free = page >= range.begin && page < range.end && model[page] == 0;
          ASSERT_EQ(told[page], free ? 1 : 0) << "seed " << seed << " step " << step << " page " << page;
        }
      }
      if (added.empty()) {
        ASSERT_TRUE(counted.empty()) << "steps are left over";
      }
    }
  }
}

TEST(SlotTable, FindsEverySlotInAnyOrder) {
  constexpr size_t kCapacity = 13;
  std::vector<OpSlot> slots(40);
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    SlotTable<uint32_t> table(kCapacity);
    std::map<const OpSlot*, uint32_t> model;
    for (uint32_t step = 0; step < 20000; ++step) {
      const OpSlot* slot = &slots[random() % slots.size()];
      if (!model.count(slot) && !table.full()) {
        table.insert(slot, step);
        model[slot] = step;
      } else {
        uint32_t value = 0;
        const auto found = model.find(slot);
        ASSERT_EQ(table.take(slot, value), found != model.end());
        if (found != model.end()) {
          ASSERT_EQ(value, found->second);
          model.erase(found);
        }
      }
      ASSERT_EQ(table.size(), model.size());
      ASSERT_EQ(table.full(), model.size() == kCapacity);
    }
    uint32_t value = 0;
    EXPECT_FALSE(table.take(nullptr, value)) << "messages without a slot hold nothing";
  }
}

}  // namespace
}  // namespace railshmem::ofi

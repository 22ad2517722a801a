// SPDX-License-Identifier: BSD-3-Clause
#include "src/heap/offset_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "src/base/align.h"

namespace railshmem {
namespace {

constexpr size_t kGranule = OffsetAllocator::kGranule;

/// The allocations in force, and the answers an exhaustive search gives.
class Model {
 public:
  explicit Model(size_t capacity) : capacity_(capacity) {}

  /// Where best fit with the lowest offset must place the request; npos when it fits nowhere. Long objects begin where
  /// GPUs like them to, if they can.
  size_t place(size_t nbytes, size_t align) const {
    const size_t need = align_up(nbytes, kGranule);
    if (need >= OffsetAllocator::kLong && align < OffsetAllocator::kLongAlign)
      if (const size_t best = place_at(need, OffsetAllocator::kLongAlign); best != npos) return best;
    return place_at(need, align);
  }
  size_t place_at(size_t need, size_t align) const {
    size_t best = npos;
    size_t best_length = npos;
    const auto consider = [&](size_t offset, size_t end) {
      const size_t start = align_up(offset, std::max(align, kGranule));
      if (start > end || end - start < need || end - offset >= best_length) return;
      best = start;
      best_length = end - offset;
    };
    size_t offset = 0;
    for (const auto& [at, length] : live_) {
      consider(offset, at);
      offset = at + length;
    }
    consider(offset, capacity_);
    return best;
  }
  size_t room_at(size_t offset) const {
    const auto next = std::next(live_.find(offset));
    return (next == live_.end() ? capacity_ : next->first) - offset;
  }

  std::map<size_t, size_t>& live() { return live_; }
  static constexpr size_t npos = std::numeric_limits<size_t>::max();

 private:
  size_t capacity_;
  std::map<size_t, size_t> live_;
};

TEST(OffsetAllocator, FindsTheAllocationAroundAnOffset) {
  OffsetAllocator heap(16 * kGranule);
  ASSERT_EQ(heap.allocate(2 * kGranule), 0u);
  ASSERT_EQ(heap.allocate(kGranule), 2 * kGranule);
  ASSERT_TRUE(heap.release(0));
  EXPECT_FALSE(heap.find(kGranule));
  const auto found = heap.find(3 * kGranule - 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset, 2 * kGranule);
  EXPECT_EQ(found->nbytes, kGranule);
  EXPECT_FALSE(heap.find(3 * kGranule));
  EXPECT_FALSE(heap.find(SIZE_MAX));
  EXPECT_FALSE(OffsetAllocator(0).find(0));
}

TEST(OffsetAllocator, MillionRandomCallsMatchTheModel) {
  constexpr size_t kCapacity = 1u << 20;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kSearchEvery = 64;
#else
  constexpr int kSearchEvery = 8;
#endif
  std::mt19937_64 random(1);
  OffsetAllocator allocator(kCapacity);
  OffsetAllocator twin(kCapacity);  // another PE
  Model model(kCapacity);
  std::vector<size_t> offsets;
  size_t used = 0;
  int failures = 0;
  for (int step = 0; step < 1000000; ++step) {
    const uint64_t dice = random();
    // Phases that fill and phases that drain, so that both exhaustion and emptiness occur.
    const unsigned bias = (step / 5000) % 2 == 0 ? 70 : 35;
    if (dice % 100 < bias) {
      const size_t nbytes = 1 + (random() >> (random() % 8 == 0 ? 46 : 53));  // to 256 KiB, mostly to 2 KiB
      const size_t align = size_t{1} << (dice >> 32) % (dice % 5 == 0 ? 18 : 7);
      const bool search = step % kSearchEvery == 0;
      const auto offset = allocator.allocate(nbytes, align);
      ASSERT_EQ(offset, twin.allocate(nbytes, align));
      if (search || !offset) {
        ASSERT_EQ(offset.value_or(Model::npos), model.place(nbytes, align)) << "step " << step;
      }
      failures += !offset;
      if (!offset) continue;
      ASSERT_EQ(*offset % std::max(align, kGranule), 0u);
      ASSERT_EQ(allocator.size_of(*offset), align_up(nbytes, kGranule));
      const auto next = model.live().emplace(*offset, align_up(nbytes, kGranule)).first;
      ASSERT_TRUE(next == model.live().begin() || std::prev(next)->first + std::prev(next)->second <= *offset);
      ASSERT_LE(*offset + next->second, std::next(next) == model.live().end() ? kCapacity : std::next(next)->first);
      offsets.push_back(*offset);
      used += next->second;
    } else if (!offsets.empty()) {
      const size_t pick = (dice >> 32) % offsets.size();
      const size_t offset = offsets[pick];
      if (dice % 100 > 90) {
        const size_t nbytes = 1 + (random() >> 52);
        const bool fits = align_up(nbytes, kGranule) <= model.room_at(offset);
        ASSERT_EQ(allocator.try_resize(offset, nbytes), fits);
        ASSERT_EQ(twin.try_resize(offset, nbytes), fits);
        if (!fits) continue;
        used += align_up(nbytes, kGranule) - model.live()[offset];
        model.live()[offset] = align_up(nbytes, kGranule);
      } else {
        ASSERT_TRUE(allocator.release(offset));
        ASSERT_TRUE(twin.release(offset));
        ASSERT_FALSE(allocator.release(offset));
        used -= model.live()[offset];
        model.live().erase(offset);
        offsets[pick] = offsets.back();
        offsets.pop_back();
      }
    }
    ASSERT_EQ(allocator.bytes_used(), used);
    if (step % 4096 == 0) {
      ASSERT_NO_THROW(allocator.check_invariants()) << "step " << step;
    }
  }
  EXPECT_GT(failures, 1000) << "the heap never ran full";
  for (const size_t offset : offsets) ASSERT_TRUE(allocator.release(offset));
  EXPECT_EQ(allocator.largest_free(), kCapacity);
  EXPECT_NO_THROW(allocator.check_invariants());
}

TEST(OffsetAllocator, TakesTheSmallestHoleThenTheLowest) {
  OffsetAllocator allocator(4096);
  std::vector<size_t> at;
  for (const size_t nbytes : {512u, 64u, 128u, 64u, 128u, 64u}) at.push_back(*allocator.allocate(nbytes));
  for (const int hole : {0, 2, 4}) ASSERT_TRUE(allocator.release(at[hole]));
  EXPECT_EQ(allocator.allocate(100), at[2]);
  EXPECT_EQ(allocator.allocate(100), at[4]);
  EXPECT_EQ(allocator.allocate(100), at[0]);
  allocator.check_invariants();
}

TEST(OffsetAllocator, LongObjectsBeginAtLinesWhereThereIsRoom) {
  OffsetAllocator allocator(3 * 4096 + kGranule);
  ASSERT_EQ(allocator.allocate(8), 0u);
  EXPECT_EQ(allocator.allocate(4096), OffsetAllocator::kLongAlign);
  EXPECT_EQ(allocator.allocate(4032), OffsetAllocator::kLongAlign + 4096);
  EXPECT_EQ(allocator.allocate(4096 - OffsetAllocator::kLongAlign + kGranule),
            OffsetAllocator::kLongAlign + 2 * 4096 - kGranule);
  EXPECT_EQ(allocator.largest_free(), OffsetAllocator::kLongAlign - kGranule);
  OffsetAllocator narrow(kGranule + 4096);
  ASSERT_EQ(narrow.allocate(8), 0u);
  EXPECT_EQ(narrow.allocate(4096), kGranule) << "no room for the better place";
}

TEST(OffsetAllocator, ExactFitAtTheVeryEndSucceeds) {
  OffsetAllocator allocator(8192);
  ASSERT_EQ(allocator.allocate(4096 - 64), 0u);
  ASSERT_EQ(allocator.allocate(4096, 4096), 4096u);
  EXPECT_EQ(allocator.largest_free(), 64u);
  EXPECT_EQ(allocator.allocate(65), std::nullopt);
  EXPECT_EQ(allocator.allocate(64), 4096u - 64);
  EXPECT_EQ(allocator.allocate(1), std::nullopt);
  EXPECT_EQ(allocator.high_water(), 8192u);
  allocator.check_invariants();
}

TEST(OffsetAllocator, MisalignedLongHoleDoesNotHideAnAlignedOne) {
  OffsetAllocator allocator(1u << 16);
  ASSERT_EQ(allocator.allocate(64), 0u);
  ASSERT_EQ(allocator.allocate(4032), 64u);  // becomes a hole without a multiple of 4096 in it
  ASSERT_EQ(allocator.allocate(64), 4096u);
  ASSERT_EQ(allocator.allocate(4096, 4096), 8192u);  // becomes the aligned hole
  ASSERT_TRUE(allocator.allocate((1u << 16) - 12288).has_value());
  ASSERT_TRUE(allocator.allocate(8192 - 4160).has_value());
  ASSERT_TRUE(allocator.release(64));
  ASSERT_TRUE(allocator.release(8192));
  EXPECT_EQ(allocator.allocate(4032, 4096), 8192u);
  EXPECT_EQ(allocator.allocate(4032, 4096), std::nullopt);
  EXPECT_EQ(allocator.allocate(4032), 64u);
}

TEST(OffsetAllocator, NonsenseIsRefused) {
  OffsetAllocator allocator(1u << 20);
  const size_t huge = std::numeric_limits<size_t>::max();
  for (const size_t nbytes : {size_t{0}, huge, huge - 62, size_t{(1u << 20) + 1}})
    EXPECT_EQ(allocator.allocate(nbytes), std::nullopt) << nbytes;
  for (const size_t align : {0u, 3u, 96u}) EXPECT_EQ(allocator.allocate(64, align), std::nullopt) << align;
  ASSERT_EQ(allocator.allocate(64, size_t{1} << 63), 0u);
  EXPECT_EQ(allocator.allocate(64, size_t{1} << 63), std::nullopt);
  EXPECT_FALSE(allocator.release(64));
  EXPECT_FALSE(allocator.release(huge));
  EXPECT_FALSE(allocator.try_resize(0, 0));
  EXPECT_FALSE(allocator.try_resize(0, huge));
  EXPECT_EQ(allocator.size_of(64), 0u);
  allocator.check_invariants();
  OffsetAllocator empty(63);
  EXPECT_EQ(empty.capacity(), 0u);
  EXPECT_EQ(empty.allocate(1), std::nullopt);
  empty.check_invariants();
}

}  // namespace
}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Slots of the bounce area, which rails reach. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace railshmem {

/// small: for what travels inside messages. Of the others a transfer takes what its length needs: few long slots would
/// let few short puts be under way.
enum class SlotKind : uint8_t { small, medium, large };
inline constexpr size_t kSlotKinds = 3;

/// Slots of one size. A slot is named by its offset in the area, which is how peers name it too.
class BouncePool {
 public:
  BouncePool(std::byte* area, uint64_t first, size_t slot_nbytes, size_t slots)
      : area_(area), slot_nbytes_(slot_nbytes), slots_(slots) {
    free_.reserve(slots);
    for (size_t i = slots; i-- > 0;) free_.push_back(first + i * slot_nbytes);
  }

  bool empty() const noexcept { return free_.empty(); }
  uint64_t take() noexcept {
    const uint64_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give(uint64_t slot) noexcept { free_.push_back(slot); }

  std::byte* at(uint64_t slot) const noexcept { return area_ + slot; }
  size_t slot_nbytes() const noexcept { return slot_nbytes_; }
  size_t size() const noexcept { return slots_; }

 private:
  std::byte* area_;
  size_t slot_nbytes_;
  size_t slots_;
  std::vector<uint64_t> free_;  ///< the one given back last is used first: it is in the cache
};

}  // namespace railshmem

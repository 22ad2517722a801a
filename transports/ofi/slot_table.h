// SPDX-License-Identifier: BSD-3-Clause
// Which registration each operation in flight holds.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/plugin/rail.h"

namespace railshmem::ofi {

/// A hash table of fixed size from slots to values, without allocation after construction. A look-up takes equally long
/// whatever the order of completions; a list would be searched through a thousand operations in flight.
template <class Value>
class SlotTable {
 public:
  SlotTable() = default;
  explicit SlotTable(size_t capacity)
      : capacity_(capacity), cells_(std::bit_ceil(2 * capacity)), mask_(cells_.size() - 1) {}

  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  bool full() const noexcept { return size_ == capacity_; }

  /// Adds a slot. The table must not be full(), and must not have the slot yet.
  void insert(const OpSlot* slot, const Value& value) noexcept {
    size_t at = home(slot);
    while (cells_[at].slot) at = next(at);
    cells_[at] = {slot, value};
    ++size_;
  }

  /// Removes a slot and fetches its value. False when the slot is not there.
  bool take(const OpSlot* slot, Value& value) noexcept {
    if (size_ == 0 || !slot) return false;
    size_t at = home(slot);
    while (cells_[at].slot != slot) {
      if (!cells_[at].slot) return false;
      at = next(at);
    }
    value = cells_[at].value;
    close_gap(at);
    --size_;
    return true;
  }

 private:
  struct Cell {
    const OpSlot* slot = nullptr;
    Value value{};
  };
  /// The cell where a search begins. Slots lie at least their own size apart; the product spreads near and far slots.
  size_t home(const OpSlot* slot) const noexcept {
    const uint64_t number = reinterpret_cast<uintptr_t>(slot) / alignof(OpSlot);
    return (number * 0x9e3779b97f4a7c15u >> 32) & mask_;
  }
  size_t next(size_t at) const noexcept { return (at + 1) & mask_; }

  /// Moves later cells of the gap's run forward, so that no search ends too early.
  void close_gap(size_t gap) noexcept {
    for (size_t at = next(gap); cells_[at].slot; at = next(at)) {
      const size_t wanted = home(cells_[at].slot);
      // A cell stays when its home is behind the gap, counted around the end of the table.
      if (((at - wanted) & mask_) < ((at - gap) & mask_)) continue;
      cells_[gap] = cells_[at];
      gap = at;
    }
    cells_[gap] = {};
  }

  size_t capacity_ = 0;
  size_t size_ = 0;
  std::vector<Cell> cells_;
  size_t mask_ = 0;
};

}  // namespace railshmem::ofi

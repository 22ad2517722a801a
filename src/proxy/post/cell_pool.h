// SPDX-License-Identifier: BSD-3-Clause
// The cells of the operations in flight: a fixed number, taken and given back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/proxy/post/message.h"
#include "src/proxy/post/op_cell.h"

namespace railshmem {

/// Fixed at construction; take() and give() never allocate. One thread at a time.
class CellPool {
 public:
  explicit CellPool(size_t cells) : cells_(cells), buffers_(new std::byte[cells * kMaxMessage]) {
    for (size_t i = cells; i-- > 0;) {
      cells_[i].index = static_cast<uint32_t>(i);
      cells_[i].next = free_;
      free_ = static_cast<uint32_t>(i);
    }
  }

  /// A cell with every field at its default, or null when all are in flight.
  OpCell* take(const Operation& what) noexcept {
    OpCell* const cell = take_for_data(what);
    if (cell == nullptr) return nullptr;
    cell->next = kNoCell;
    cell->context = nullptr;
    cell->outcome = {};
    return cell;
  }
  /// A cell for a put, get or put_signal, which sets the fields that take() sets beyond these.
  [[gnu::always_inline]] OpCell* take_for_data(const Operation& what) noexcept {
    if (free_ == kNoCell) [[unlikely]]
      return nullptr;
    OpCell& cell = cells_[free_];
    free_ = cell.next;
    cell.what = what;
    ++in_use_;
    return &cell;
  }
  void give(OpCell& cell) noexcept {
    cell.fetch = nullptr;
    cell.state.clear();
    cell.fetch_width = 0;
    cell.swallowed = false;
    cell.unordered = false;
    cell.lasting = false;
    cell.is_word = false;
    cell.segment = SegmentId{};
    cell.rail = 0;
    cell.parts_left = 0;
    cell.first_look = 0;
    cell.request_bytes = 0;
    cell.parent = kNoCell;
    cell.what.kind = OpKind::none;
    cell.next = free_;
    free_ = cell.index;
    --in_use_;
  }

  /// Takes a free cell out of use, until restore(). `rail`: whose event it may still get. Cold.
  void retire(OpCell& cell, uint8_t rail) noexcept {
    uint32_t* link = &free_;
    while (*link != cell.index) link = &cells_[*link].next;
    *link = cell.next;
    cell.rail = rail;
  }
  void restore(OpCell& cell) noexcept {
    cell.rail = 0;
    cell.next = free_;
    free_ = cell.index;
  }

  /// This cell's kMaxMessage bytes. Pages are touched at first use only, so idle cells cost no memory.
  std::byte* buffer(const OpCell& cell) noexcept { return buffers_.get() + cell.index * kMaxMessage; }

  OpCell& operator[](uint32_t index) noexcept { return cells_[index]; }
  const OpCell& operator[](uint32_t index) const noexcept { return cells_[index]; }
  size_t size() const noexcept { return cells_.size(); }
  size_t in_use() const noexcept { return in_use_; }

  /// Some operation in flight, for messages; of kind none when nothing is in flight.
  Operation any_in_flight() const noexcept {
    for (const OpCell& cell : cells_)
      if (cell.what.kind != OpKind::none) return cell.what;
    return {OpKind::none, -1, 0};
  }

 private:
  std::vector<OpCell> cells_;  ///< free cells are cleared, except for the fields that take() sets
  std::unique_ptr<std::byte[]> buffers_;
  uint32_t free_ = kNoCell;
  size_t in_use_ = 0;
};

/// Cells in the order in which they came, linked through OpCell::next.
class CellList {
 public:
  bool empty() const noexcept { return head_ == kNoCell; }
  void push(CellPool& cells, OpCell& cell) noexcept {
    cell.next = kNoCell;
    (head_ == kNoCell ? head_ : cells[tail_].next) = cell.index;
    tail_ = cell.index;
  }
  void push_front(OpCell& cell) noexcept {
    cell.next = head_;
    if (head_ == kNoCell) tail_ = cell.index;
    head_ = cell.index;
  }
  OpCell& pop(CellPool& cells) noexcept {
    OpCell& cell = cells[head_];
    head_ = cell.next;
    return cell;
  }

 private:
  uint32_t head_ = kNoCell;
  uint32_t tail_ = kNoCell;
};

}  // namespace railshmem

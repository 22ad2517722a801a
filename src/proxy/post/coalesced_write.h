// SPDX-License-Identifier: BSD-3-Clause
// The last write of a batch. Each write but the last tells the rail that another follows, which may save a doorbell. So
// the newest write is always held back: only the next call tells whether it was the last.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/proxy/post/cell_pool.h"
#include "src/proxy/rails/rail_set.h"

namespace railshmem {

class CoalescedWrite {
 public:
  /// Writes between two doorbells: enough to spread the cost of one, few enough that the NIC soon has work, and fewer
  /// than any send queue holds, so that a full queue always has completions to come.
  static constexpr uint32_t kLongestRun = 32;

  bool empty() const noexcept { return cell_ == nullptr; }
  OpCell& cell() noexcept { return *cell_; }
  size_t rail() const noexcept { return rail_; }

  /// Whether the coalesced write may promise that another one follows: the rail of the coalesced write is among
  /// `usable`, over which the next write may go.
  bool may_run_on(RailMask usable) const noexcept {
    return cell_ != nullptr && run_ + 1 < kLongestRun && ((usable >> rail_) & 1) != 0;
  }
  void hold(OpCell& cell, size_t rail) noexcept {
    cell_ = &cell;
    rail_ = rail;
  }
  /// Tells that the coalesced write was posted; `more`: with the promise that another write follows at once.
  void let_go(bool more) noexcept {
    run_ = more ? run_ + 1 : 0;
    cell_ = nullptr;
  }
  void forget() noexcept { cell_ = nullptr; }

 private:
  OpCell* cell_ = nullptr;
  size_t rail_ = 0;
  uint32_t run_ = 0;  ///< writes since the last doorbell
};

}  // namespace railshmem

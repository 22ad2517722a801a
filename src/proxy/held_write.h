// SPDX-License-Identifier: BSD-3-Clause
// The last write of a batch. Each write but the last tells the rail that another follows, which may save a doorbell;
// so one is always held back, because only what comes after it tells whether it was the last.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/plugin/rail.h"
#include "src/proxy/cell_pool.h"
#include "src/proxy/transfer.h"

namespace railshmem {

class HeldWrite {
 public:
  /// Writes between two doorbells: enough to spread the cost of one, few enough that the NIC soon has work, and fewer
  /// than any send queue holds, so that a full queue always has completions to come.
  static constexpr uint32_t kLongestRun = 32;

  bool empty() const noexcept { return cell_ == nullptr; }
  /// A further write may announce itself to the one before.
  bool may_run_on() const noexcept { return run_ + 1 < kLongestRun; }

  void hold(const Transfer& t) noexcept {
    cell_ = t.cell;
    write_ = {t.remote, t.local, t.nbytes, t.cell, false};
  }

  /// Posts it; on `again` it is still held. `more`: another write follows at once.
  template <Rail R>
  Post post(R& rail, bool more) noexcept {
    write_.more = more;
    const Post posted = rail.write(write_);
    if (posted == Post::again) return posted;
    run_ = more ? run_ + 1 : 0;
    cell_ = nullptr;
    return posted;
  }

  const OpCell* cell() const noexcept { return cell_; }
  void forget() noexcept { cell_ = nullptr; }

 private:
  OpCell* cell_ = nullptr;
  RailWrite write_{};
  uint32_t run_ = 0;  ///< writes since the last doorbell
};

}  // namespace railshmem

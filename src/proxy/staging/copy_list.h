// SPDX-License-Identifier: BSD-3-Clause
// Copies under way, each for a cell. They may end in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/plugin/copier.h"

namespace railshmem {

/// Fixed capacity: add() does not allocate.
class CopyList {
 public:
  explicit CopyList(size_t most) { copies_.reserve(most); }

  /// `began` is handed to ended().
  void add(uint32_t cell, Copier::Ticket ticket, uint64_t began) noexcept { copies_.push_back({cell, ticket, began}); }
  void clear() noexcept { copies_.clear(); }

  /// Calls ended(cell, began), which may add others, for each that is over. True when there was one.
  template <class Ended>
  bool step(Copier& copier, Ended&& ended) noexcept {
    bool any = false;
    for (size_t i = 0; i < copies_.size();) {
      const Copying copying = copies_[i];
      if (!copier.finished(copying.ticket)) {
        ++i;
        continue;
      }
      copies_[i] = copies_.back();
      copies_.pop_back();
      ended(copying.cell, copying.began);
      any = true;
    }
    return any;
  }

 private:
  struct Copying {
    uint32_t cell;
    Copier::Ticket ticket;
    uint64_t began;
  };
  std::vector<Copying> copies_;
};

}  // namespace railshmem

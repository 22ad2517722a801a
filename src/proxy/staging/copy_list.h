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

  void add(uint32_t cell, Copier::Ticket ticket) noexcept { copies_.push_back({cell, ticket}); }
  void clear() noexcept { copies_.clear(); }

  /// Calls ended(cell), which may add others, for each that is over. True when there was one.
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
      ended(copying.cell);
      any = true;
    }
    return any;
  }

 private:
  struct Copying {
    uint32_t cell;
    Copier::Ticket ticket;
  };
  std::vector<Copying> copies_;
};

}  // namespace railshmem

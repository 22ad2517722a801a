// SPDX-License-Identifier: BSD-3-Clause
// Messages that their targets have not answered yet, counted by target. One thread at a time, like its initiator.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/error.h"

namespace railshmem {

class Unanswered {
 public:
  explicit Unanswered(int npes) : by_pe_(static_cast<size_t>(npes)) {}

  void add(int pe) noexcept {
    ++total_;
    ++by_pe_[static_cast<size_t>(pe)];
  }
  void remove(int pe, uint64_t count) noexcept {
    total_ -= count;
    by_pe_[static_cast<size_t>(pe)] -= static_cast<uint32_t>(count);
  }
  /// Nobody will answer any more.
  void clear() noexcept {
    total_ = 0;
    std::fill(by_pe_.begin(), by_pe_.end(), 0u);
  }
  size_t total() const noexcept { return total_; }

  /// "5 atomics or signals unanswered, 2 of them by PE 3"; empty when there are none.
  std::string describe() const {
    for (size_t pe = 0; pe < by_pe_.size(); ++pe)
      if (by_pe_[pe] > 0)
        return text("%zu atomics or signals unanswered, %u of them by PE %zu", total_, by_pe_[pe], pe);
    return {};
  }

 private:
  std::vector<uint32_t> by_pe_;
  size_t total_ = 0;
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// The PEs of a team in rank order, as arithmetic.
#pragma once

#include <algorithm>
#include <vector>

namespace railshmem {

/// start, start + stride, ... of the world's PEs or, for teams split from PEs that no stride describes (a node whose
/// PEs are not consecutive), of an ascending table of PEs, which must outlive the set. A split of a set is a set
/// again, so no team needs a table of its own.
struct PeSet {
  int start = 0;
  int stride = 1;  ///< negative counts down; 0 only with size 1
  int size = 0;
  const std::vector<int>* table = nullptr;

  /// World PE of a rank in [0, size).
  int pe(int rank) const noexcept {
    const int index = start + rank * stride;
    return table ? (*table)[static_cast<size_t>(index)] : index;
  }

  /// Rank of a world PE, or -1.
  int rank(int pe) const noexcept {
    int index = pe;
    if (table) {
      const auto found = std::lower_bound(table->begin(), table->end(), pe);
      if (found == table->end() || *found != pe) return -1;
      index = static_cast<int>(found - table->begin());
    }
    const int distance = index - start;
    if (stride == 0 || distance % stride != 0) return distance == 0 && size > 0 ? 0 : -1;
    const int rank = distance / stride;
    return rank >= 0 && rank < size ? rank : -1;
  }

  /// Ranks first, first + step, ... of this set; the caller has checked that they exist.
  PeSet split(int first, int step, int count) const noexcept {
    return {start + first * stride, step * stride, count, table};
  }
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// The tree over which PEs exchange: PE p's children are p*k+1 .. p*k+k, so everyone computes it alone.
#pragma once

#include <vector>

namespace railshmem::tcp {

/// Children per PE: 17 PEs reach each other directly through PE 0, 4369 in three hops, and no PE holds more than
/// 17 connections.
inline constexpr int kFanout = 16;

struct Tree {
  int npes;
  int fanout = kFanout;

  int parent(int pe) const noexcept { return pe == 0 ? -1 : (pe - 1) / fanout; }
  std::vector<int> children(int pe) const {
    std::vector<int> out;
    for (long child = static_cast<long>(pe) * fanout + 1; child <= static_cast<long>(pe) * fanout + fanout; ++child)
      if (child < npes) out.push_back(static_cast<int>(child));
    return out;
  }
  /// The PE, then the subtree of each child in turn: the order in which contributions travel upwards.
  std::vector<int> subtree(int pe) const {
    std::vector<int> out{pe};
    for (const int child : children(pe)) {
      const std::vector<int> below = subtree(child);
      out.insert(out.end(), below.begin(), below.end());
    }
    return out;
  }
  /// Levels below the PE; 0 for a leaf. The first child's branch is the deepest.
  int height(int pe) const noexcept {
    int levels = 0;
    for (long at = static_cast<long>(pe) * fanout + 1; at < npes; at = at * fanout + 1) ++levels;
    return levels;
  }
};

}  // namespace railshmem::tcp

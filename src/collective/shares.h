// SPDX-License-Identifier: BSD-3-Clause
// How the members of several nodes divide a reduction in chunks among them.
#pragma once

#include "src/collective/reduction.h"

namespace railshmem {

/// A run of elements whose result one member, the owner, computes for all.
struct Share {
  size_t source_at;  ///< bytes from the start of every member's source
  size_t dest_at;    ///< bytes from the start of dest
  size_t nelems;
};

/// all: every member gets the whole result. dealt: the owner alone gets the share, which is its part.
enum class Results : uint8_t { all, dealt };

/// Pure arithmetic, with one outcome on all members.
class Shares {
 public:
  /// nelems of `job` is of dest.
  Shares(const Team& team, const Reduction& job, Results results) noexcept;

  /// The share of the owner `rank`; of 0 elements where it owns none.
  Share of(int rank) const noexcept;
  /// Elements of the longest share.
  size_t longest() const noexcept { return longest_; }
  /// The member of `node` that combines that node's operands for the owner, and takes its results for that node.
  int helper(int node, int owner) const noexcept {
    return team_.nodes.partner(node, index_[static_cast<size_t>(owner)]);
  }
  /// The most shares of other nodes for which one member is the helper.
  size_t most_helped() const noexcept { return most_helped_; }

 private:
  const Team& team_;
  const size_t nelems_;
  const size_t element_;
  const Results results_;
  std::vector<int> index_;  ///< rank -> its place among its node's members
  int owners_ = 0;          ///< of each node; results for all only
  size_t longest_ = 0;
  size_t most_helped_ = 0;
};

}  // namespace railshmem

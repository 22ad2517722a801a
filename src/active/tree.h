// SPDX-License-Identifier: BSD-3-Clause
// Binomial tree over the ranks of an active set, turned so that any rank can be its root.
#pragma once

#include <bit>

#include "src/active/active_set.h"

namespace railshmem {

/// `place` counts from the root. The parent of a place is the place without its lowest bit. So the children of a place
/// are the sums of the place and every power of two below its lowest bit, as far as there are members.
class BinomialTree {
 public:
  BinomialTree(const ActiveSet& set, int root) noexcept
      : size_(set.size()), root_(root), place_(set.rank >= root ? set.rank - root : set.rank - root + size_) {}

  bool is_root() const noexcept { return place_ == 0; }
  int parent() const noexcept { return rank_of(place_ & (place_ - 1)); }
  /// Number of powers of two to try; child(k) is -1 where there is no member.
  int child_slots() const noexcept { return place_ == 0 ? std::bit_width(unsigned(size_ - 1)) : slot(); }
  int child(int k) const noexcept {
    const int64_t place = int64_t{place_} + (int64_t{1} << k);
    return place < size_ ? rank_of(static_cast<int>(place)) : -1;
  }
  /// The k for which this member is child(k) of its parent.
  int slot() const noexcept { return std::countr_zero(static_cast<unsigned>(place_)); }

 private:
  int rank_of(int place) const noexcept { return static_cast<int>((int64_t{place} + root_) % size_); }

  const int size_;
  const int root_;
  const int place_;
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of a team a split takes (OpenSHMEM 1.6 section 9.4); arithmetic only.
#pragma once

#include "src/topology/pe_set.h"

namespace railshmem {

/// Ranks start, start + stride, ... of a parent team.
struct Triplet {
  int start = 0;
  int stride = 1;
  int size = 0;
};

/// Every rank exists in a parent of `parent_size`, and none twice.
bool is_valid(const Triplet& ranks, int parent_size) noexcept;

/// The PEs of a valid triplet.
PeSet select(const PeSet& parent, const Triplet& ranks) noexcept;

/// A team laid out in rows of `xrange` ranks; the last row may be short. xrange is at least 1; what exceeds the size
/// counts as the size.
class Grid {
 public:
  Grid(int size, int xrange) noexcept : size_(size), xrange_(xrange < size ? xrange : size) {}
  Triplet row_of(int rank) const noexcept;
  Triplet column_of(int rank) const noexcept;

 private:
  int size_;
  int xrange_;
};

}  // namespace railshmem

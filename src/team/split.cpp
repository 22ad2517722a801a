// SPDX-License-Identifier: BSD-3-Clause
#include "src/team/split.h"

#include <algorithm>
#include <cstdint>

namespace railshmem {

bool is_valid(const Triplet& ranks, int parent_size) noexcept {
  if (ranks.size < 1 || ranks.size > parent_size) return false;
  if (ranks.stride == 0 && ranks.size > 1) return false;
  const int64_t last = ranks.start + int64_t{ranks.stride} * (ranks.size - 1);  // 64 bits: a stride may be anything
  return ranks.start >= 0 && ranks.start < parent_size && last >= 0 && last < parent_size;
}

PeSet select(const PeSet& parent, const Triplet& ranks) noexcept {
  // The stride of a single rank means nothing and may be huge.
  return parent.split(ranks.start, ranks.size == 1 ? 1 : ranks.stride, ranks.size);
}

Triplet Grid::row_of(int rank) const noexcept {
  const int first = rank / xrange_ * xrange_;
  return {first, 1, std::min(xrange_, size_ - first)};
}

Triplet Grid::column_of(int rank) const noexcept {
  const int x = rank % xrange_;
  return {x, xrange_, (size_ - x + xrange_ - 1) / xrange_};
}

}  // namespace railshmem

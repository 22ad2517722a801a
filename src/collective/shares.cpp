// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/shares.h"

#include <algorithm>

namespace railshmem {

Shares::Shares(const Team& team, const Reduction& job, Results results) noexcept
    : team_(team),
      nelems_(job.nelems),
      element_(job.element),
      results_(results),
      index_(static_cast<size_t>(team.size())) {
  const TeamNodes& nodes = team.nodes;
  const int count = static_cast<int>(nodes.leaders.size());
  owners_ = nodes.size_of(0);
  for (int node = 0; node < count; ++node) {
    owners_ = std::min(owners_, nodes.size_of(node));
    for (int i = 0; i < nodes.size_of(node); ++i)
      index_[static_cast<size_t>(nodes.by_node[static_cast<size_t>(nodes.first[static_cast<size_t>(node)] + i)])] = i;
  }
  for (int rank = 0; rank < team.size(); ++rank) longest_ = std::max(longest_, of(rank).nelems);
  for (int helping = 0; helping < count; ++helping) {
    size_t helped = 0;
    for (int node = 0; node < count; ++node)
      if (node != helping)
        helped += static_cast<size_t>((nodes.size_of(node) + nodes.size_of(helping) - 1) / nodes.size_of(helping));
    most_helped_ = std::max(most_helped_, helped);
  }
}

Share Shares::of(int rank) const noexcept {
  if (results_ == Results::dealt) return {static_cast<size_t>(rank) * nelems_ * element_, 0, nelems_};
  const int index = index_[static_cast<size_t>(rank)], nodes = static_cast<int>(team_.nodes.leaders.size());
  if (index >= owners_) return {0, 0, 0};
  const Part part =
      part_of(nelems_, element_, index * nodes + team_.nodes.node_of[static_cast<size_t>(rank)], owners_ * nodes);
  return {part.first * element_, part.first * element_, part.count};
}

}  // namespace railshmem

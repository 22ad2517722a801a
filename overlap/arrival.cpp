// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/arrival.h"

#include <algorithm>

namespace railshmem::overlap {
namespace {

/// `distance` places before `at`, in a circle of `size`.
size_t before(size_t at, size_t distance, size_t size) noexcept {
  return (at % size + size - distance % size) % size;
}

}  // namespace

std::vector<Arrival> order_of_arrival(const std::vector<int>& node_of, int me, size_t pieces) {
  const auto mine = static_cast<size_t>(node_of[static_cast<size_t>(me)]);
  std::vector<std::vector<int>> members(static_cast<size_t>(*std::max_element(node_of.begin(), node_of.end())) + 1);
  for (size_t rank = 0; rank < node_of.size(); ++rank)
    members[static_cast<size_t>(node_of[rank])].push_back(static_cast<int>(rank));
  const std::vector<int>& here = members[mine];
  const auto index = static_cast<size_t>(std::find(here.begin(), here.end(), me) - here.begin());
  std::vector<Arrival> order;
  // A member sends to the one behind it first.
  for (size_t p = 0; p < pieces; ++p)
    for (size_t i = 1; i < here.size(); ++i) order.push_back({here[before(index, i, here.size())], p});
  // From another node this member gets the rows of the member with its own index; the others pass on theirs.
  for (size_t p = 0; p < pieces; ++p)
    for (size_t i = 1; i < members.size(); ++i) {
      const std::vector<int>& there = members[before(mine, i, members.size())];
      for (size_t j = 0; j < there.size(); ++j) order.push_back({there[before(index, j, there.size())], p});
    }
  return order;
}

}  // namespace railshmem::overlap

// SPDX-License-Identifier: BSD-3-Clause
// In which order the library's all-gather brings pieces between nodes: a pure function of where members are.
#pragma once

#include <cstddef>
#include <vector>

namespace railshmem::overlap {

/// A piece of another member.
struct Arrival {
  int member;
  size_t number;  ///< among the member's pieces
  bool operator==(const Arrival&) const = default;
};

/// The pieces of all members but `me`, as they come to `me`. Those of its own node cross no network, so they are first.
/// A sender gives a piece to all its receivers before the next piece, so among each of the two kinds first pieces come
/// first. node_of: of each member, numbered in the order of their lowest ranks.
std::vector<Arrival> order_of_arrival(const std::vector<int>& node_of, int me, size_t pieces);

}  // namespace railshmem::overlap

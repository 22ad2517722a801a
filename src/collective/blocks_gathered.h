// SPDX-License-Identifier: BSD-3-Clause
// alltoall of short blocks over several nodes, with one message from each node to each other.
#pragma once

#include "src/collective/blocks_node.h"

namespace railshmem {

/// Every pair of nodes has a carrier on each side. Members copy their blocks for the other node to the carrier of their
/// node, who sends them all at once to the carrier there, from whom the receivers fetch them. The blocks pass through
/// the team's area only, so `dest` and `source` may be any memory of this PE, and no member touches the memory of
/// another one that has not come.
/// Returns false, on all members, and nothing has happened, where the blocks do not fit into the area or every node has
/// one member.
bool blocks_by_gathering(const Blocks& blocks) noexcept;

}  // namespace railshmem

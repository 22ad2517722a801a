// SPDX-License-Identifier: BSD-3-Clause
// Reductions over a team: dest of every member becomes source 0 op source 1 op ... in a fixed order.
#pragma once

#include "src/collective/reduction.h"

namespace railshmem {

/// Returns when dest is complete and source may change. On one node operands meet in rank order, over several nodes in
/// rank order within each node and then in the order of nodes (recursive doubling: as its tree has it).
void reduce(Team& team, const Reduction& job) noexcept;

}  // namespace railshmem

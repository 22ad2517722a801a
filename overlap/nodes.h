// SPDX-License-Identifier: BSD-3-Clause
// On which node each member is.
#pragma once

#include <vector>

#include "overlap/driver.h"
#include "overlap/workspace.h"

namespace railshmem::overlap {

/// Writes the number of this PE's node, counted in the order of their lowest ranks, into a word of the workspace that
/// nobody uses yet. Local. Throws Error.
void write_node(shmem_team_t team, const Workspace& workspace, Stream stream);
/// The number of each member's node, when all members have written theirs. Collective over the team. Throws Error after
/// the exchange.
std::vector<int> nodes_of_members(shmem_team_t team, int n, const Workspace& workspace, Stream stream);

}  // namespace railshmem::overlap

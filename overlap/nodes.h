// SPDX-License-Identifier: BSD-3-Clause
// On which node each member is.
#pragma once

#include <vector>

#include "overlap/driver.h"
#include "overlap/workspace.h"

namespace railshmem::overlap {

/// The number of each member's node, counted in the order of their lowest ranks. The members tell each other by words
/// of the workspace that nobody uses yet. Collective over the team. Throws Error.
std::vector<int> nodes_of_members(shmem_team_t team, int n, const Workspace& workspace, Stream stream);

}  // namespace railshmem::overlap

// SPDX-License-Identifier: BSD-3-Clause
// The members of a team, and their memory as this PE sees it.
#pragma once

#include <shmem.h>
#include <shmemx.h>

#include "moe/kernels/call.h"

namespace railshmem::moe {

/// Throws Error where this PE has no such team.
void check_team(shmem_team_t team);
/// Where a team's members are. Throws Error for a team whose members on a node do not map each other's GPU memory.
shmemx_topology_t place_of(shmem_team_t team);
/// Those of other nodes get no memory. Throws Error where the workspace is smaller than `needed`, which `function`
/// gives, or not symmetric.
Members members_of(shmem_team_t team, const Shape& shape, void* workspace, size_t nbytes, uint64_t needed,
                   const char* function);

/// Sets the words at the beginning of the workspace to 0; the GPU has done so when it returns.
void clear_words(void* workspace, uint64_t nbytes);

}  // namespace railshmem::moe

// SPDX-License-Identifier: BSD-3-Clause
// Which members are on which node.
#pragma once

#include <shmemx.h>

#include "moe/kernels/bulk_far.h"

namespace railshmem::moe {

/// Members tell each other through `cards`, a word for each of them in symmetric memory that is theirs alone.
/// Collective over the team, whose members have cleared their memory. Members of other nodes lose their memory. Throws
/// Error where one of this PE's node is not mapped, after the last exchange.
BulkNodes nodes_of(shmem_team_t team, const shmemx_topology_t& where, Members& members, unsigned char* cards);

}  // namespace railshmem::moe

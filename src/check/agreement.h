// SPDX-License-Identifier: BSD-3-Clause
// All members of a team must make the same collective calls in the same order: compared before each one runs.
#pragma once

#include "src/check/collective_call.h"
#include "src/team/team.h"

namespace railshmem::check {

/// Returns when every member has made this call with the same arguments. Ends the job with a message that names both
/// PEs, calls, places and arguments when they differ, and after SHMEM_TIMEOUT when a member does not come.
///
/// Each PE compares itself with the next one: if all neighbours agree, all do. The synchronisation at the end keeps
/// records until everybody has read them, and nobody enters the collective before all have been compared.
void must_agree(Team& team, const CollectiveCall& call) noexcept;

}  // namespace railshmem::check

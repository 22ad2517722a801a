// SPDX-License-Identifier: BSD-3-Clause
// SHMEM_CHECK for collective calls: checks the buffers of this PE, and compares the calls of a team's members before
// each call runs. All must make equal calls in equal order.
#pragma once

#include "src/check/arguments.h"
#include "src/check/collective_call.h"
#include "src/team/team.h"

namespace railshmem::check {

/// Returns when every member has made this call with equal arguments. Ends the job when calls differ, with a message
/// that names both PEs, calls, places and arguments; also when a member does not come within SHMEM_TIMEOUT.
///
/// Each PE compares its call with that of the next PE: if all neighbours agree, all PEs agree. The synchronisation at
/// the end keeps records until they are read. It also keeps every PE out of the collective until all calls are
/// compared.
void must_agree(Team& team, const CollectiveCall& call) noexcept;

/// Checks both buffers by check_operands(). All members must pass equal dest, source and arguments of `call`.
void check_collective(Team& team, CollectiveCall& call, const Buffer& dest, const Buffer& source,
                      InPlace in_place) noexcept;

}  // namespace railshmem::check

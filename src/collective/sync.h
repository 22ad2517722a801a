// SPDX-License-Identifier: BSD-3-Clause
// Synchronisation of a team: within a node through shared flags, between nodes through their leaders.
#pragma once

#include "src/team/team.h"

namespace railshmem {

/// Orders this PE's stores before the members' return; completes no remote operation (OpenSHMEM 1.6 section 9.10).
void sync(Team& team, const char* function) noexcept;

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// From a team handle of a caller to its Team.
#pragma once

#include "src/api/job.h"

namespace railshmem {

/// Ends the job for SHMEM_TEAM_INVALID, for the handle of a destroyed team and for anything else that is no team.
Team& team_of(const char* function, shmem_team_t handle) noexcept;
/// The same, but null for SHMEM_TEAM_INVALID.
Team* team_or_null(const char* function, shmem_team_t handle) noexcept;

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// What every function on a team starts with.
#pragma once

#include "src/api/job.h"

namespace railshmem {

/// What a collective returns for a handle that is no team of this PE.
inline constexpr int kBadTeam = 1;

[[gnu::cold]] void warn_bad_team(const char* function, shmem_team_t handle) noexcept;
[[noreturn, gnu::cold]] void die_bad_member(const char* function, const Team& team, const char* argument,
                                            int rank) noexcept;

/// The team behind a handle, or null with a warning.
inline Team* find_team(const char* function, shmem_team_t handle) noexcept {
  Team* const team = job::world(function).teams().find(handle);
  if (!team) [[unlikely]]
    warn_bad_team(function, handle);
  return team;
}

/// `rank` must be a member of the team.
inline void check_member(const char* function, const Team& team, const char* argument, int rank) noexcept {
  if (static_cast<unsigned>(rank) >= static_cast<unsigned>(team.size())) [[unlikely]]
    die_bad_member(function, team, argument, rank);
}

}  // namespace railshmem

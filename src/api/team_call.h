// SPDX-License-Identifier: BSD-3-Clause
// What every function on a team starts with.
#pragma once

#include "src/api/job.h"

namespace railshmem {

/// What a collective returns for a handle that is no team of this PE.
inline constexpr int kBadTeam = 1;

/// `result`: what the call returns, in words.
[[gnu::cold]] void warn_bad_team(const char* function, shmem_team_t handle, const char* result) noexcept;
[[noreturn, gnu::cold]] void die_bad_member(const char* function, const Team& team, const char* argument,
                                            int rank) noexcept;

/// The team behind a handle, or null for a handle that is no team of this PE: with a warning, and under SHMEM_CHECK=1
/// with the end of the job. All calls that take a team begin with this or with the next function.
inline Team* find_team(const char* function, shmem_team_t handle, const char* result = "1") noexcept {
  Team* const team = job::world(function).teams().find(handle);
  if (!team) [[unlikely]]
    warn_bad_team(function, handle, result);
  return team;
}

/// For calls that the standard allows on SHMEM_TEAM_INVALID, which is no mistake there.
inline Team* find_team_or_none(const char* function, shmem_team_t handle, const char* result) noexcept {
  if (handle != SHMEM_TEAM_INVALID) return find_team(function, handle, result);
  job::world(function);
  return nullptr;
}

/// For calls that report by a status: throws Error for a handle that is no team of this PE.
Team& must_find_team(const char* function, shmem_team_t handle);

/// `rank` must be a member of the team.
inline void check_member(const char* function, const Team& team, const char* argument, int rank) noexcept {
  if (static_cast<unsigned>(rank) >= static_cast<unsigned>(team.size())) [[unlikely]]
    die_bad_member(function, team, argument, rank);
}

}  // namespace railshmem

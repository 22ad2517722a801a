// SPDX-License-Identifier: BSD-3-Clause
//
// C11 name of the synchronisation of a team.
#ifndef RAILSHMEM_SHMEM_GENERIC_TEAM_H
#define RAILSHMEM_SHMEM_GENERIC_TEAM_H

/// One argument is a team; four are the old active set, whose function is also called shmem_sync. The number of
/// arguments decides, not their type, because the choices of a _Generic must all be declared.
#define RAILSHMEM_FIFTH(A, B, C, D, E, ...) E
#define shmem_sync(...) \
  RAILSHMEM_FIFTH(__VA_ARGS__, shmem_sync, shmem_sync, shmem_sync, shmem_team_sync, 0)(__VA_ARGS__)

#endif

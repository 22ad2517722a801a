// SPDX-License-Identifier: BSD-3-Clause
//
// Teams: sets of PEs that act together, and their synchronisation.
#ifndef RAILSHMEM_SHMEM_TEAM_H
#define RAILSHMEM_SHMEM_TEAM_H

#include "shmem/api.h"
#include "shmem/types.h"

// clang-format off

/// Tells a PE's number in a team, the size of a team, and what the team was made with (OpenSHMEM 1.6, 9.4 and 9.1).
///
/// Any thread may ask at any time. For SHMEM_TEAM_INVALID my_pe, n_pes and translate_pe give -1, ptr gives NULL and
/// get_config a nonzero value. translate_pe gives -1 for a PE that is not in both teams. get_config writes the fields
/// that the mask selects; with a mask of 0 config may be NULL. ptr is shmem_ptr for a PE number of the team.
///
/// Any other handle that is no team of the calling PE, such as that of a destroyed team, is a mistake; so is
/// SHMEM_TEAM_INVALID given to a collective. Every host call that takes a team then only prints a warning and returns
/// what my_pe, n_pes, translate_pe, ptr and get_config return for SHMEM_TEAM_INVALID; collectives and splits return 1.
/// SHMEM_CHECK=1 ends the job instead, with the place of the call.
#define RAILSHMEM_TEAM_QUERY_FUNCTIONS(F)                                                     \
  F(int, team_my_pe, shmem_team_t team)                                                       \
  F(int, team_n_pes, shmem_team_t team)                                                       \
  F(int, team_translate_pe, shmem_team_t src_team, int src_pe, shmem_team_t dest_team)        \
  F(void*, team_ptr, shmem_team_t team, const void* dest, int pe)
#define RAILSHMEM_TEAM_CONFIG_FUNCTIONS(F) \
  F(int, team_get_config, shmem_team_t team, long config_mask, shmem_team_config_t* config)

/// Makes teams out of a team, and ends them (OpenSHMEM 1.6, 9.4).
///
/// Collective over the parent; a new team can be used as soon as the call returns. split_strided takes the parent's PEs
/// start, start + stride, ...; a negative stride reverses them, a stride of 0 goes with size 1. PEs that are not in the
/// new team get SHMEM_TEAM_INVALID and 0. split_2d lays the parent out in rows of xrange PEs and gives each PE the
/// teams of its row (x) and of its column (y). A split fails on all PEs of the parent or on none; then it returns
/// nonzero and gives SHMEM_TEAM_INVALID. destroy is collective over the team; it ends contexts of the team that were
/// left.
#define RAILSHMEM_TEAM_SPLIT_FUNCTIONS(F)                                                                              \
  F(int, team_split_strided, shmem_team_t parent_team, int start, int stride, int size,                                \
      const shmem_team_config_t* config, long config_mask, shmem_team_t* new_team)                                     \
  F(int, team_split_2d, shmem_team_t parent_team, int xrange, const shmem_team_config_t* xaxis_config,                 \
      long xaxis_mask, shmem_team_t* xaxis_team, const shmem_team_config_t* yaxis_config, long yaxis_mask,             \
      shmem_team_t* yaxis_team)                                                                                        \
  F(void, team_destroy, shmem_team_t team)

/// Waits until every PE of the team has arrived (OpenSHMEM 1.6, 9.10).
///
/// Orders plain stores; completes no remote operation. Returns 0. C11 and C++ know it as shmem_sync as well.
#define RAILSHMEM_TEAM_SYNC_FUNCTIONS(F) \
  F(int, team_sync, shmem_team_t team)

/// The whole family.
#define RAILSHMEM_TEAM_FUNCTIONS(F) \
  RAILSHMEM_TEAM_QUERY_FUNCTIONS(F) \
  RAILSHMEM_TEAM_CONFIG_FUNCTIONS(F) \
  RAILSHMEM_TEAM_SPLIT_FUNCTIONS(F) \
  RAILSHMEM_TEAM_SYNC_FUNCTIONS(F)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_TEAM_QUERY_FUNCTIONS(RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_TEAM_CONFIG_FUNCTIONS(RAILSHMEM_DECLARE)
RAILSHMEM_TEAM_SPLIT_FUNCTIONS(RAILSHMEM_DECLARE)
RAILSHMEM_TEAM_SYNC_FUNCTIONS(RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_END_C

#endif

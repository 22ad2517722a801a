// SPDX-License-Identifier: BSD-3-Clause
//
// Communication contexts, and sessions on them.
#ifndef RAILSHMEM_SHMEM_CONTEXT_H
#define RAILSHMEM_SHMEM_CONTEXT_H

#include "shmem/api.h"
#include "shmem/types.h"

// clang-format off

/// Makes and ends contexts: separate streams of operations with a fence and a quiet of their own (OpenSHMEM 1.6, 9.5).
///
/// Not collective. create and create_ctx return 0, or nonzero with SHMEM_CTX_INVALID when there is no room; that is no
/// error. Operations on a context of a team name PEs by their number in the team. destroy completes what was issued;
/// a SHMEM_CTX_PRIVATE context is used and destroyed by the thread that created it. get_team gives the team a
/// context was made from, SHMEM_TEAM_WORLD for the default context and those of ctx_create.
#define RAILSHMEM_CONTEXT_FUNCTIONS(F)                                           \
  F(int, ctx_create, long options, shmem_ctx_t* ctx)                             \
  F(int, team_create_ctx, shmem_team_t team, long options, shmem_ctx_t* ctx)     \
  F(void, ctx_destroy, shmem_ctx_t ctx)
#define RAILSHMEM_CONTEXT_QUERY_FUNCTIONS(F) \
  F(int, ctx_get_team, shmem_ctx_t ctx, shmem_team_t* team)

/// Tells the library what comes next on a context (OpenSHMEM 1.6, 9.9).
///
/// Hints only: nothing is completed or ordered. SHMEM_CTX_SESSION_BATCH lets small operations wait for each other so
/// that they start together; the wait ends with the session, a fence or quiet, any blocking operation, and by itself
/// after a moment. A second start adds options and replaces what the mask selects.
#define RAILSHMEM_SESSION_FUNCTIONS(F)                                                                             \
  F(void, ctx_session_start, shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t* config,              \
      long config_mask)                                                                                            \
  F(void, ctx_session_stop, shmem_ctx_t ctx)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_CONTEXT_FUNCTIONS(RAILSHMEM_DECLARE)
RAILSHMEM_CONTEXT_QUERY_FUNCTIONS(RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_SESSION_FUNCTIONS(RAILSHMEM_DECLARE)
RAILSHMEM_END_C

#endif

// SPDX-License-Identifier: BSD-3-Clause
// Contexts and sessions: every name of include/shmem/context.h.
#include "shmem/context.h"

#include "src/api/entry.h"
#include "src/api/team_call.h"
#include "src/base/log.h"
#include "src/check/arguments.h"
#include "src/rma/call.h"
#include "src/rma/probe.h"
#include "src/rma/session.h"

using namespace railshmem;

namespace {

int create(const char* function, const Team& team, long options, shmem_ctx_t* ctx) noexcept {
  PeState& state = team.state;
  if (!ctx) die("%s: ctx is NULL; pass the address of a variable", function);
  // Contexts of the world need no translation.
  const bool is_world = team.slot == Teams::kWorld;
  *ctx = state.contexts->create(is_world ? nullptr : &team.pes, team.handle(), options);
  return *ctx == SHMEM_CTX_INVALID ? 1 : 0;
}

}  // namespace

extern "C" {

int pshmem_ctx_create(long options, shmem_ctx_t* ctx) {
  return create("shmem_ctx_create", job::world("shmem_ctx_create").teams().world(), options, ctx);
}

int pshmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx) {
  if (const Team* t = find_team_or_none("shmem_team_create_ctx", team, "1"))
    return create("shmem_team_create_ctx", *t, options, ctx);
  if (ctx) *ctx = SHMEM_CTX_INVALID;
  return 1;
}

void pshmem_ctx_destroy(shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID) return;
  RAILSHMEM_ENTER_CTX("shmem_ctx_destroy");
  if (&context == &state.default_context) {
    log_warn("shmem_ctx_destroy: the default context stays as it is");
    return;
  }
  if (checking(state)) check::check_context("shmem_ctx_destroy", context);
  state.contexts->destroy(state, ctx);
}

int pshmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t* team) {
  if (!team) die("shmem_ctx_get_team: team is NULL; pass the address of a variable");
  *team = SHMEM_TEAM_INVALID;
  if (ctx == SHMEM_CTX_INVALID) return 1;
  RAILSHMEM_ENTER_CTX("shmem_ctx_get_team");
  *team = context.team;
  return 0;
}

void pshmem_ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t* config,
                              long config_mask) {
  if (ctx == SHMEM_CTX_INVALID) return;
  RAILSHMEM_ENTER_CTX("shmem_ctx_session_start");
  const bool has_total = (config_mask & SHMEM_CTX_SESSION_TOTAL_OPS) != 0;
  if (has_total && !config)
    die("shmem_ctx_session_start: the configuration is NULL but the mask is 0x%lx; pass a configuration, or 0",
        config_mask);
  if ((options & SHMEM_CTX_SESSION_BATCH) != 0 || has_total)
    start_session(state, context, (options & SHMEM_CTX_SESSION_BATCH) != 0, has_total ? &config->total_ops : nullptr);
}

void pshmem_ctx_session_stop(shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID) return;
  RAILSHMEM_ENTER_CTX("shmem_ctx_session_stop");
  stop_session(state, context);
}
}

RAILSHMEM_ALIAS(ctx_create);
RAILSHMEM_ALIAS(team_create_ctx);
RAILSHMEM_ALIAS(ctx_destroy);
RAILSHMEM_ALIAS(ctx_get_team);
RAILSHMEM_ALIAS(ctx_session_start);
RAILSHMEM_ALIAS(ctx_session_stop);

// SPDX-License-Identifier: BSD-3-Clause
// Ordering and synchronisation of all PEs: every name of include/shmem/ordering.h.
#include "src/rma/ordering.h"

#include "src/api/entry.h"
#include "src/api/job.h"
#include "src/check/collective.h"
#include "src/rma/call.h"
#include "src/rma/peer_address.h"
#include "src/rma/probe.h"

using namespace railshmem;

namespace {

void quiet_towards(PeState& state, Context& context, const char* function, const int* pes, size_t npes) noexcept {
  if (npes == 0) return;
  check_local(function, "target_pes", pes, npes * sizeof(int), state.me);
  for (size_t i = 0; i < npes; ++i) {
    const int pe = world_pe(context, function, pes[i]);
    check_pe(state, function, pe);
    quiet(state, context, pe);
  }
}

}  // namespace

extern "C" {

void pshmem_fence(void) {
  RAILSHMEM_ENTER("shmem_fence");
  RAILSHMEM_PROBE(fence, "shmem_fence");
  fence(state, context);
}

void pshmem_quiet(void) {
  RAILSHMEM_ENTER("shmem_quiet");
  RAILSHMEM_PROBE(quiet, "shmem_quiet");
  quiet(state, context);
}

void pshmem_pe_quiet(const int* target_pes, size_t npes) {
  RAILSHMEM_ENTER("shmem_pe_quiet");
  RAILSHMEM_PROBE(quiet, "shmem_pe_quiet");
  quiet_towards(state, context, "shmem_pe_quiet", target_pes, npes);
}

// An invalid context has no operations: nothing to order or complete.
void pshmem_ctx_fence(shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID) return;
  RAILSHMEM_ENTER_CTX("shmem_ctx_fence");
  RAILSHMEM_PROBE(fence, "shmem_ctx_fence");
  fence(state, context);
}

void pshmem_ctx_quiet(shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID) return;
  RAILSHMEM_ENTER_CTX("shmem_ctx_quiet");
  RAILSHMEM_PROBE(quiet, "shmem_ctx_quiet");
  quiet(state, context);
}

void pshmem_ctx_pe_quiet(shmem_ctx_t ctx, const int* target_pes, size_t npes) {
  if (ctx == SHMEM_CTX_INVALID) return;
  RAILSHMEM_ENTER_CTX("shmem_ctx_pe_quiet");
  RAILSHMEM_PROBE(quiet, "shmem_ctx_pe_quiet");
  quiet_towards(state, context, "shmem_ctx_pe_quiet", target_pes, npes);
}

void pshmem_barrier_all(void) {
  World& world = job::world("shmem_barrier_all");
  PeState& state = world.state();
  RAILSHMEM_PROBE_PLAIN(barrier, "shmem_barrier_all");
  if (checking(state)) check::must_agree(world.teams().world(), {state, "shmem_barrier_all"});
  world.barrier("shmem_barrier_all");
}
void pshmem_sync_all(void) {
  World& world = job::world("shmem_sync_all");
  PeState& state = world.state();
  RAILSHMEM_PROBE_PLAIN(barrier, "shmem_sync_all");
  if (checking(state)) check::must_agree(world.teams().world(), {state, "shmem_sync_all"});
  world.sync("shmem_sync_all");
}
}

RAILSHMEM_ALIAS(fence);
RAILSHMEM_ALIAS(quiet);
RAILSHMEM_ALIAS(pe_quiet);
RAILSHMEM_ALIAS(ctx_fence);
RAILSHMEM_ALIAS(ctx_quiet);
RAILSHMEM_ALIAS(ctx_pe_quiet);
RAILSHMEM_ALIAS(barrier_all);
RAILSHMEM_ALIAS(sync_all);

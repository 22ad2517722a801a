// SPDX-License-Identifier: BSD-3-Clause
// What every API function starts with: the PE it acts for and the context it acts on.
#pragma once

#include "shmem/types.h"
#include "src/rma/context_table.h"
#include "src/rma/pe_state.h"

namespace railshmem {

[[noreturn, gnu::cold]] void die_bad_context(const char* function, shmem_ctx_t ctx) noexcept;

[[noreturn, gnu::cold]] void die_bad_team_pe(const char* function, int pe, int size) noexcept;

/// The context behind a handle; ends the job for SHMEM_CTX_INVALID and for what is no context.
inline Context& context_of(PeState& state, const char* function, shmem_ctx_t ctx) noexcept {
  if (ctx == SHMEM_CTX_DEFAULT) return state.default_context;
  Context* context = state.contexts->find(ctx);
  if (!context) [[unlikely]]
    die_bad_context(function, ctx);
  return *context;
}

/// The world's number of a PE that a call on `context` names.
inline int world_pe(const Context& context, const char* function, int pe) noexcept {
  if (!context.pes) [[likely]]
    return pe;  // checked where it is used
  if (static_cast<unsigned>(pe) >= static_cast<unsigned>(context.pes->size)) [[unlikely]]
    die_bad_team_pe(function, pe, context.pes->size);
  return context.pes->pe(pe);
}

}  // namespace railshmem

/// Opens a function body: `state` and `context` of a call on the default context, or on `ctx`.
#define RAILSHMEM_ENTER(FUNCTION)                                \
  ::railshmem::PeState& state = ::railshmem::pe_state(FUNCTION); \
  ::railshmem::Context& context = state.default_context
#define RAILSHMEM_ENTER_CTX(FUNCTION)                            \
  ::railshmem::PeState& state = ::railshmem::pe_state(FUNCTION); \
  ::railshmem::Context& context = ::railshmem::context_of(state, FUNCTION, ctx)

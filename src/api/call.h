// SPDX-License-Identifier: BSD-3-Clause
// What every API function starts with: the PE it acts for and the context it acts on.
#pragma once

#include "shmem/types.h"
#include "src/rma/pe_state.h"

namespace railshmem {

[[noreturn, gnu::cold]] void die_bad_context(const char* function, shmem_ctx_t ctx) noexcept;

/// The context behind a handle; ends the job for SHMEM_CTX_INVALID.
inline Context& context_of(PeState& state, const char* function, shmem_ctx_t ctx) noexcept {
  if (ctx == SHMEM_CTX_DEFAULT) [[likely]]
    return state.default_context;
  die_bad_context(function, ctx);
}

}  // namespace railshmem

/// Opens a function body: `state` and `context` of a call on the default context, or on `ctx`.
#define RAILSHMEM_ENTER(FUNCTION)                                \
  ::railshmem::PeState& state = ::railshmem::pe_state(FUNCTION); \
  ::railshmem::Context& context = state.default_context
#define RAILSHMEM_ENTER_CTX(FUNCTION)                            \
  ::railshmem::PeState& state = ::railshmem::pe_state(FUNCTION); \
  ::railshmem::Context& context = ::railshmem::context_of(state, FUNCTION, ctx)

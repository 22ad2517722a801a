// SPDX-License-Identifier: BSD-3-Clause
// A call of the program with a target PE: the PE and the context that it acts on, and the observer that hears of it.
#pragma once

#include "src/rma/call.h"
#include "src/rma/probe.h"

namespace railshmem {

/// What a call with a target PE acts on: pe is the world's number.
struct Entry {
  const char* function;
  PeState& state;
  Context& context;
  int pe;

  [[gnu::always_inline]] Entry(const char* name, int target) noexcept
      : function(name), state(pe_state(name)), context(state.default_context), pe(target) {}
  [[gnu::always_inline]] Entry(const char* name, shmem_ctx_t ctx, int target) noexcept
      : function(name),
        state(pe_state(name)),
        context(context_of(state, name, ctx)),
        pe(world_pe(context, name, target)) {}
};

/// Both sides of a transfer, for the observer.
struct Sides {
  const void* symmetric;
  const void* local = nullptr;
};

/// Runs kOperation(state, context, function, args...) as one call of the program. Without an observer it adds nothing
/// to the operation but one look at a pointer.
template <auto kOperation, class... Args>
[[gnu::always_inline]] inline auto run_call(const Entry& entry, observe::Kind kind, uint64_t nbytes, Sides sides,
                                            Args... args) noexcept {
  if (entry.state.observer) [[unlikely]]
    return observed(kOperation, entry.state, entry.context,
                    {kind, entry.function, nbytes, entry.pe, sides.symmetric, sides.local}, args...);
  return kOperation(entry.state, entry.context, entry.function, args...);
}

}  // namespace railshmem

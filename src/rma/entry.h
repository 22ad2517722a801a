// SPDX-License-Identifier: BSD-3-Clause
// A call of the program with a target PE: the PE and the context that it acts on, and the observer that hears of it.
#pragma once

#include "src/rma/call.h"
#include "src/rma/probe.h"

/// Marks a function that is inlined into each entry point: a call of a shared one would be a seventh of a put's
/// instructions. Builds with sanitizers share it among the types of a size, because its copies took a minute to
/// compile.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RAILSHMEM_SHORT_CALL [[gnu::noinline]]
#else
#define RAILSHMEM_SHORT_CALL [[gnu::always_inline]] inline
#endif

namespace railshmem {

/// The name of the function that the program called, and the PE that the call named. It goes in registers from an entry
/// point to the function that does the work, which the entry points of all types of one size share.
struct CallTo {
  const char* function;
  int pe;
};

/// What a call with a target PE acts on: pe is the world's number.
struct Entry {
  const char* function;
  PeState& state;
  Context& context;
  int pe;

  [[gnu::always_inline]] explicit Entry(CallTo call) noexcept
      : function(call.function), state(pe_state(function)), context(state.default_context), pe(call.pe) {}
  [[gnu::always_inline]] Entry(CallTo call, shmem_ctx_t ctx) noexcept
      : function(call.function),
        state(pe_state(function)),
        context(context_of(state, function, ctx)),
        pe(world_pe(context, function, call.pe)) {}
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

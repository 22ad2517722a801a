// SPDX-License-Identifier: BSD-3-Clause
// What the entry points of the library share (src/api/entries, written by scripts/gen_api.py): the PE and the context
// that a call acts on, and the observer that hears of it.
#pragma once

#include "pshmem.h"
#include "src/api/call.h"
#include "src/api/probe.h"

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

/// shmem_NAME as a weak alias of pshmem_NAME (OpenSHMEM 1.6 section 10): a tool may define its own shmem_NAME. Beside
/// the definition, as compilers demand. RAILSHMEM_ALIAS_PLAIN: of a name without shmem_.
#define RAILSHMEM_ALIAS(NAME) \
  extern "C" RAILSHMEM_API decltype(pshmem_##NAME) shmem_##NAME __attribute__((weak, alias("pshmem_" #NAME)))
#define RAILSHMEM_ALIAS_PLAIN(NAME) \
  extern "C" RAILSHMEM_API decltype(p##NAME) NAME __attribute__((weak, alias("p" #NAME)))

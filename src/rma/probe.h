// SPDX-License-Identifier: BSD-3-Clause
// What every API function tells SHMEM_STATS, SHMEM_TRACE and SHMEM_CHECK. In jobs without these, a call looks at one
// pointer, which is beside data that it reads anyway.
#pragma once

#include <type_traits>

#include "src/observe/kind.h"
#include "src/rma/pe_state.h"

namespace railshmem {

/// One call of the program. Fields that do not apply keep their defaults.
struct Call {
  observe::Kind kind;
  const char* function;
  uint64_t nbytes = 0;
  int pe = -1;                      ///< of the world; the call itself refuses a PE that does not exist
  const void* symmetric = nullptr;  ///< the other PE's side of a transfer
  const void* local = nullptr;      ///< this PE's side
};

/// Cold halves of Probe, defined in src/api/probe.cpp: they check arguments by src/check.
[[gnu::cold, gnu::noinline]] void begin_call(PeState& state, const Context* context, observe::Kind kind,
                                             const char* function, uint64_t nbytes, int pe, const void* symmetric,
                                             const void* local) noexcept;
[[gnu::cold, gnu::noinline]] void end_call(PeState& state) noexcept;
[[gnu::cold]] bool is_checking(const PeState& state) noexcept;

/// Records one call of the program, from here to the end of the enclosing block.
class Probe {
 public:
  [[gnu::always_inline]] Probe(PeState& state, const Context* context, const Call& call) noexcept : state_(state) {
    // The values are passed one by one, in registers: a struct would be written to the stack before the branch.
    if (state.observer) [[unlikely]]
      begin_call(state, context, call.kind, call.function, call.nbytes, call.pe, call.symmetric, call.local);
  }
  [[gnu::always_inline]] ~Probe() {
    if (state_.observer) [[unlikely]]
      end_call(state_);
  }
  Probe(const Probe&) = delete;

 private:
  PeState& state_;
};

/// Runs begin_call(), the operation and end_call(), out of the way of the plain path.
template <class Result, class... Args>
[[gnu::cold, gnu::noinline]] Result observed(Result (*operation)(PeState&, Context&, const char*, Args...),
                                             PeState& state, Context& context, const Call& call,
                                             std::type_identity_t<Args>... args) noexcept {
  struct End {
    PeState& state;
    ~End() { end_call(state); }
  };
  begin_call(state, &context, call.kind, call.function, call.nbytes, call.pe, call.symmetric, call.local);
  const End end{state};
  return operation(state, context, call.function, args...);
}

/// True under SHMEM_CHECK=1.
inline bool checking(const PeState& state) noexcept {
  return state.observer && is_checking(state);
}

}  // namespace railshmem

/// Records the rest of the block as one call of the program: RAILSHMEM_PROBE(put, name, nbytes, pe, symmetric, local).
#define RAILSHMEM_PROBE(KIND, ...) \
  const ::railshmem::Probe probe(state, &context, {::railshmem::observe::Kind::KIND, __VA_ARGS__})
/// Records the rest of the block as one call of the program that has no context.
#define RAILSHMEM_PROBE_PLAIN(KIND, ...) \
  const ::railshmem::Probe probe(state, nullptr, {::railshmem::observe::Kind::KIND, __VA_ARGS__})

// SPDX-License-Identifier: BSD-3-Clause
// Put with signal and signal operations, as their entry points call them.
#pragma once

#include "src/api/entry.h"
#include "src/rma/put_get.h"
#include "src/rma/signal.h"
#include "src/rma/wait.h"

namespace railshmem {

/// `in` is the context, or nothing.
template <bool kNbi, size_t kElement, class... In>
[[gnu::noinline]] void put_with_signal(void* dest, const void* source, size_t nelems, uint64_t* word, uint64_t value,
                                       int op, CallTo call, In... in) noexcept {
  const Entry entry(call, in...);
  const size_t nbytes = total_bytes(entry.function, nelems, kElement, entry.pe);
  const SignalTarget signal{word, value, checked_signal_op(entry.function, op, entry.pe)};
  run_call<&put_signal<kNbi>>(entry, observe::Kind::put_signal, nbytes, {dest, source}, dest, source, nbytes, signal,
                              entry.pe);
}

template <class... In>
[[gnu::always_inline]] inline void send_signal(const SignalTarget& signal, CallTo call, In... in) noexcept {
  const Entry entry(call, in...);
  run_call<&signal_only>(entry, observe::Kind::signal, sizeof(uint64_t), {signal.address}, signal, entry.pe);
}

inline uint64_t fetch_signal(const char* function, const uint64_t* word) noexcept {
  PeState& state = pe_state(function);
  if (!word) die_null_variable(function);
  if (state.network) net_progress(*state.network);  // a polling loop must drive what it polls for
  return load_variable(state.device, word);
}

inline uint64_t wait_for_signal(const char* function, uint64_t* word, int cmp, uint64_t value) noexcept {
  PeState& state = pe_state(function);
  RAILSHMEM_PROBE_PLAIN(wait, function, sizeof(uint64_t));
  return wait_until<uint64_t>(state, function, word, cmp, value);
}

}  // namespace railshmem

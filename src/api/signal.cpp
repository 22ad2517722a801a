// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/signal.h"

#include "src/rma/wait.h"

namespace railshmem {

uint64_t fetch_signal(const char* function, const uint64_t* word) noexcept {
  PeState& state = pe_state(function);
  if (!word) die_null_variable(function);
  if (state.network) net_progress(*state.network);  // a polling loop must drive what it polls for
  return load_variable(state.device, word);
}

uint64_t wait_for_signal(const char* function, uint64_t* word, int cmp, uint64_t value) noexcept {
  PeState& state = pe_state(function);
  RAILSHMEM_PROBE_PLAIN(wait, function, sizeof(uint64_t));
  return wait_until<uint64_t>(state, function, word, cmp, value);
}

}  // namespace railshmem

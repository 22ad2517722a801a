// SPDX-License-Identifier: BSD-3-Clause
// Fence and quiet (OpenSHMEM 1.6 section 9.12) over both ways of reaching a peer.
#pragma once

#include "src/rma/pe_state.h"

namespace railshmem {

inline void fence(PeState& state, Context& context) noexcept {
  // release: later stores to mapped memory stay behind earlier ones; a waiting peer acquires.
  __atomic_thread_fence(__ATOMIC_RELEASE);
  if (!context.net) return;
  // The network orders its own operations, but a later store would overtake those still on their way to that PE.
  if (state.mixed_reach) [[unlikely]]
    net_quiet(*state.network, *context.net);
  else
    net_fence(*state.network, *context.net);
}

inline void quiet(PeState& state, Context& context) noexcept {
  if (context.net) net_quiet(*state.network, *context.net);
  // seq_cst: a store before quiet is visible before any load after it (two PEs that put, quiet, then get each other's
  // flag must not both miss it).
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/// Completes the operations of the context that target `pe` (a PE of the world).
inline void quiet(PeState& state, Context& context, int pe) noexcept {
  if (context.net) net_quiet(*state.network, *context.net, pe);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);  // a store before quiet is visible before any load after it
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Sessions on a context (OpenSHMEM 1.6 section 9.9). Load/store peers have nothing to batch.
#pragma once

#include "src/rma/pe_state.h"

namespace railshmem {

/// Starts a session, or adds to the one that runs: `batch` once set stays, `total_ops` replaces when not null.
inline void start_session(PeState& state, Context& context, bool batch, const size_t* total_ops) noexcept {
  if (context.net) net_session_start(*state.network, *context.net, batch, total_ops);
}

inline void stop_session(PeState& state, Context& context) noexcept {
  if (context.net) net_session_stop(*state.network, *context.net);
}

}  // namespace railshmem

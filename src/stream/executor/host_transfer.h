// SPDX-License-Identifier: BSD-3-Clause
// A put, get or put_signal that a stream has the host run.
#pragma once

#include "src/cuda/kernels/stream_call.h"
#include "src/rma/pe_state.h"

namespace railshmem {

struct HostTransfer {
  const char* function = nullptr;
  cuda::StreamCall call{};
};

/// Whether begin() knows the call.
bool is_host_transfer(const cuda::StreamCall& call) noexcept;

/// Starts it. It is complete, here and at its PE, when net_is_quiet() says so of `context`, which has no other
/// operation.
void begin(PeState& state, Context& context, const HostTransfer& transfer) noexcept;

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Contract: who runs stream-ordered calls for PEs that only the network reaches, without a kernel.
#pragma once

#include "src/cuda/kernels/stream_call.h"
#include "src/cuda/types.h"

namespace railshmem {

class HostCalls {
 public:
  virtual ~HostCalls() = default;

  /// Appends a call to a stream, which may be captured: the stream goes on when the call is complete at its PE.
  /// `function`, which lives forever, is for messages. False: a kernel is to do it, and nothing happened. Any thread.
  virtual bool take(const char* function, const cuda::StreamCall& call, cuda::Stream stream) noexcept = 0;
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// What stream-ordered calls put into a stream of the program: copies by copy engines, and kernels.
#pragma once

#include "src/cuda/reduce_kernel.h"
#include "src/cuda/stream_kernels.h"
#include "src/gpu/device_memory.h"

namespace railshmem {

/// Any number of threads; nothing waits. A refusal by the driver ends the job with its words. What is given may be
/// captured into graphs: nothing that counts calls is in it.
class StreamSide {
 public:
  /// `memory` must be attached, and outlive this. Throws Error.
  StreamSide(DeviceMemory& memory, const WorldView& view);

  void copy(void* to, const void* from, size_t nbytes, cuda::Stream stream) noexcept;
  void give(const cuda::StreamCall& call, cuda::Stream stream) noexcept;
  void reduce(const DeviceReduction& reduction, cuda::Stream stream) noexcept;

 private:
  void must(cuda::Result result, const char* call) noexcept;

  const cuda::DeviceContext& gpu_;
  cuda::StreamKernels kernels_;
  cuda::ReduceKernel reducer_;
};

}  // namespace railshmem

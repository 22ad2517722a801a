// SPDX-License-Identifier: BSD-3-Clause
// Kernels that the library gives to streams of the program.
#pragma once

#include "src/cuda/kernels/stream_call.h"
#include "src/cuda/loaded_kernels.h"

namespace railshmem::cuda {

/// Any number of threads. Launches may be captured into graphs.
class StreamKernels {
 public:
  /// Loads them and gives them their view. Throws Error where the library has no kernels or the driver does not load
  /// them.
  StreamKernels(const DeviceContext& gpu, DeviceCopies& copies, const WorldView& view);

  /// Appends the step to a stream. Blocks and clusters are for put_signal_near. The driver's word.
  Result give(const StreamCall& call, StreamWidth width, Stream stream) noexcept;
  Result give(const StreamStrides& strides, Stream stream) noexcept;
  Result give(const StreamWords& words, Stream stream) noexcept;

 private:
  const LoadedKernels kernels_;
  const Function step_, block_, cluster_, strided_, words_;
  unsigned cluster_blocks_ = 1;
};

}  // namespace railshmem::cuda

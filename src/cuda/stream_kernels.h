// SPDX-License-Identifier: BSD-3-Clause
// Kernels that the library gives to streams of the program.
#pragma once

#include "include/shmem/detail/world.h"
#include "src/cuda/device_copies.h"
#include "src/cuda/kernels/stream_call.h"

namespace railshmem::cuda {

/// Any number of threads. Launches may be captured into graphs.
class StreamKernels {
 public:
  /// Loads them and gives them their view. Throws Error where the library has no kernels or the driver does not load
  /// them.
  StreamKernels(const DeviceContext& gpu, DeviceCopies& copies, const WorldView& view);
  StreamKernels(const StreamKernels&) = delete;
  ~StreamKernels();

  /// Appends the step to a stream. The driver's word.
  Result give(const StreamCall& call, Stream stream) noexcept;
  Result give(const StreamStrides& strides, Stream stream) noexcept;
  Result give(const StreamWords& words, Stream stream) noexcept;

 private:
  Result launch(Function function, unsigned nblocks, unsigned nthreads, const void* parameter, Stream stream) noexcept;

  const DeviceContext& gpu_;
  Module module_ = nullptr;
  Function step_ = nullptr;
  Function collective_ = nullptr;
  Function strided_ = nullptr;
  Function words_ = nullptr;
};

}  // namespace railshmem::cuda

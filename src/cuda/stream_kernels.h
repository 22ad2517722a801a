// SPDX-License-Identifier: BSD-3-Clause
// Kernels that the library gives to streams of the program.
#pragma once

#include "include/shmem/detail/world.h"
#include "src/cuda/device_copies.h"
#include "src/cuda/kernels/stream_call.h"
#include "src/plugin/device_access.h"

namespace railshmem::cuda {

/// Any number of threads. Launches may be captured into graphs.
class StreamKernels {
 public:
  /// Loads them and gives them their view. Throws Error where the library has no kernels or the driver does not load
  /// them.
  StreamKernels(const DeviceContext& gpu, DeviceCopies& copies, const WorldView& view);
  StreamKernels(const StreamKernels&) = delete;
  ~StreamKernels();

  /// Appends the step to a stream. A cluster is for steps among mapped members. The driver's word.
  Result give(const StreamCall& call, StreamWidth width, Stream stream) noexcept;
  Result give(const StreamStrides& strides, Stream stream) noexcept;
  Result give(const StreamWords& words, Stream stream) noexcept;
  /// Appends `part` of a reduction that the members of call.team compute together: it begins when all have come to it,
  /// and ends when all are done. Without operands: all of it, by a block, between members that may not be mapped.
  Result reduce(const StreamCall& call, const DeviceReduction& part, StreamWidth width, Stream stream) noexcept;

 private:
  Function load(const char* name) const;
  Result launch(Function kernel, unsigned nblocks, unsigned nthreads, void** parameters, Stream stream) noexcept;

  const DeviceContext& gpu_;
  Module module_ = nullptr;
  Function step_ = nullptr;
  Function collective_ = nullptr;
  Function cluster_ = nullptr;
  Function reduce_ = nullptr;
  Function cluster_reduce_ = nullptr;
  Function strided_ = nullptr;
  Function words_ = nullptr;
  unsigned cluster_blocks_ = 1;
};

}  // namespace railshmem::cuda

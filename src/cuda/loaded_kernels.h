// SPDX-License-Identifier: BSD-3-Clause
// A module of the library's own kernels, on the GPU.
#pragma once

#include <cstddef>
#include <span>

#include "include/shmem/detail/world.h"
#include "src/cuda/device_copies.h"

namespace railshmem::cuda {

/// Any number of threads. Launches may be captured into graphs.
class LoadedKernels {
 public:
  /// Loads the image and gives the kernels their view of the job. Throws Error where the image is empty, since the
  /// library was built without nvcc, or where the driver does not load it.
  LoadedKernels(const DeviceContext& gpu, DeviceCopies& copies, std::span<const std::byte> image,
                const WorldView& view);
  LoadedKernels(const LoadedKernels&) = delete;
  ~LoadedKernels();

  /// Gives the kernels another view. Throws Error.
  void show(DeviceCopies& copies, const WorldView& view) const;
  /// Throws Error where the module has no such kernel.
  Function find(const char* name) const;
  /// Appends a kernel of one parameter to a stream. The driver's word.
  template <class Call>
  Result launch(Function kernel, unsigned nblocks, unsigned nthreads, const Call& call, Stream stream) const noexcept {
    void* parameters[] = {const_cast<Call*>(&call)};
    return launch(kernel, nblocks, nthreads, parameters, stream);
  }
  Result launch(Function kernel, unsigned nblocks, unsigned nthreads, void** parameters, Stream stream) const noexcept;

 private:
  const DeviceContext& gpu_;
  Module module_ = nullptr;
};

}  // namespace railshmem::cuda

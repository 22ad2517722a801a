// SPDX-License-Identifier: BSD-3-Clause
// Reductions of host calls on arrays in the memory of GPUs, by a kernel.
#pragma once

#include <mutex>

#include "src/cuda/device.h"
#include "src/plugin/device_access.h"

namespace railshmem::cuda {

/// In a stream of its own and of high priority, which waits for no kernel of the program's. It needs places on
/// multiprocessors, and waits where all are taken by blocks that wait. Any number of threads.
class ReduceKernel {
 public:
  /// Whether this library has kernels at all.
  static bool available() noexcept;
  static bool computes(TypeKind kind) noexcept;

  /// Throws Error where the driver does not load it.
  explicit ReduceKernel(const DeviceContext& gpu);
  ReduceKernel(const ReduceKernel&) = delete;
  ~ReduceKernel();

  /// Returns when all results are there for everybody; ends the job after kPatienceNs.
  void run(const DeviceReduction& reduction) noexcept;

 private:
  Result give(const DeviceReduction& reduction, Stream stream) noexcept;
  static constexpr uint64_t kPatienceNs = 60'000'000'000;

  const DeviceContext& gpu_;
  std::mutex mutex_;
  Module module_ = nullptr;
  Function function_ = nullptr;
  Stream stream_ = nullptr;
};

}  // namespace railshmem::cuda

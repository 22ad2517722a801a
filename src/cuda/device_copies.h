// SPDX-License-Identifier: BSD-3-Clause
// Copies that are over when the call returns: what host calls do with memory that only copy engines reach.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "src/cuda/bounce_lane.h"
#include "src/plugin/device_access.h"

namespace railshmem::cuda {

/// Any number of threads. cuMemcpy would do, but it waits for the kernels of the program's blocking streams, and those
/// may wait for what this PE is about to send.
class DeviceCopies {
 public:
  /// `plain` may be null: copy engines copy everything. Throws Error.
  explicit DeviceCopies(const DeviceContext& gpu, const PlainCopies* plain = nullptr);

  /// Either side may be of this GPU, of another that it reaches, or of the host. An aligned word appears whole.
  void copy(void* to, const void* from, size_t nbytes) noexcept;
  /// Independent ones, all under way at once.
  void copy_all(std::span<const DeviceCopy> copies) noexcept;
  void fill(void* to, unsigned char value, size_t nbytes) noexcept;

 private:
  static constexpr size_t kLanes = 4;  // GPUs have 2 to 10 copy engines; more threads than lanes take turns
  struct Lane {
    Lane(const DeviceContext& gpu, const PlainCopies* plain) : copies(gpu, plain) {}
    std::atomic<bool> taken{false};
    BounceLane copies;
  };
  class Turn;

  const DeviceContext& gpu_;
  std::array<Lane, kLanes> lanes_;
};

}  // namespace railshmem::cuda

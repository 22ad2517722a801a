// SPDX-License-Identifier: BSD-3-Clause
// Host memory that stays where it is and that kernels and copy engines use.
#pragma once

#include <cstddef>
#include <span>

#include "src/cuda/device.h"

namespace railshmem::cuda {

/// Allocated for the use of all contexts and kernels, zeroed, on the NUMA node next to the GPU. Move-only.
class PinnedMemory {
 public:
  /// Throws Error.
  PinnedMemory(const DeviceContext& gpu, size_t nbytes);
  PinnedMemory(PinnedMemory&& other) noexcept;
  PinnedMemory& operator=(PinnedMemory&& other) noexcept;
  ~PinnedMemory();

  std::byte* host() const noexcept { return host_; }
  /// The address of the memory for kernels, mostly equal to the host's.
  std::byte* device() const noexcept { return device_; }
  size_t nbytes() const noexcept { return nbytes_; }

 private:
  const DeviceContext* gpu_;
  std::byte* host_ = nullptr;
  std::byte* device_ = nullptr;
  size_t nbytes_;
};

/// The address for kernels of pinned memory, which may lie inside what was pinned; null where they have none.
std::byte* device_address(const DeviceContext& gpu, std::byte* pinned) noexcept;

/// Pins host memory that somebody else owns, for as long as this lives. Memory that the program has registered itself
/// stays registered by the program. Move-only.
class HostRegistration {
 public:
  /// Throws Error.
  HostRegistration(const DeviceContext& gpu, std::span<std::byte> memory);
  HostRegistration(HostRegistration&& other) noexcept;
  HostRegistration& operator=(HostRegistration&&) = delete;
  ~HostRegistration();

  std::byte* host() const noexcept { return memory_.data(); }
  std::byte* device() const noexcept { return device_; }
  size_t nbytes() const noexcept { return memory_.size(); }

 private:
  const DeviceContext& gpu_;
  const std::span<std::byte> memory_;
  std::byte* device_ = nullptr;
  bool owned_ = false;
};

}  // namespace railshmem::cuda

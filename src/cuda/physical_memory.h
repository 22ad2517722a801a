// SPDX-License-Identifier: BSD-3-Clause
// An extent of a GPU's memory without an address: what is mapped into arenas, and given to other processes.
#pragma once

#include <cstddef>
#include <string>

#include "src/base/unique.h"
#include "src/cuda/device.h"

namespace railshmem::cuda {

/// Owns one handle of the driver's. The memory lives as long as somebody has a handle, a mapping or a file descriptor
/// of it. Move-only.
class PhysicalMemory {
 public:
  /// New memory of this device, shareable with processes of the host, and where the device offers it with NICs and with
  /// other hosts. `nbytes` is a multiple of the device's granularity. Throws Error saying what is free.
  static PhysicalMemory create(const DeviceContext& gpu, size_t nbytes);
  /// Memory that another process (`whose`: "PE 3") exported; the descriptor may be closed afterwards. Throws Error.
  static PhysicalMemory import(const DeviceContext& gpu, int fd, size_t nbytes, const std::string& whose);
  static PhysicalMemory import(const DeviceContext& gpu, const FabricHandle& fabric, size_t nbytes,
                               const std::string& whose);

  /// What the program mapped at this address, all of one mapping's `nbytes`; it lives on when the program lets it go.
  /// `to_share`: it must be such as other processes may be given. Throws Error saying what the memory is instead.
  static PhysicalMemory retain(const DeviceContext& gpu, std::byte* mapping, size_t nbytes, bool to_share);

  PhysicalMemory(PhysicalMemory&& other) noexcept;
  PhysicalMemory& operator=(PhysicalMemory&& other) noexcept;
  ~PhysicalMemory();

  /// For import() elsewhere, once it is there (src/base/fd_ticket.h): it cannot be opened through /proc. Throws Error.
  UniqueFd export_fd() const;
  FabricHandle export_fabric() const;

  MemoryHandle handle() const noexcept { return handle_; }
  size_t nbytes() const noexcept { return nbytes_; }
  /// NICs may be given it; false for what was imported, whose owner knows.
  bool rdma_capable() const noexcept { return rdma_capable_; }
  /// Other processes of this host may be given it; false for what was imported.
  bool has_fd() const noexcept { return fd_; }
  /// Other hosts may be given it; false for what was imported.
  bool has_fabric_handle() const noexcept { return fabric_; }

 private:
  static PhysicalMemory import_handle(const DeviceContext& gpu, void* shareable, int type, size_t nbytes,
                                      const std::string& whose);
  PhysicalMemory(const DeviceContext& gpu, MemoryHandle handle, size_t nbytes) noexcept
      : gpu_(&gpu), handle_(handle), nbytes_(nbytes) {}

  const DeviceContext* gpu_;
  MemoryHandle handle_;  ///< 0: moved away
  size_t nbytes_;
  bool rdma_capable_ = false;
  bool fd_ = false;
  bool fabric_ = false;
};

}  // namespace railshmem::cuda

// SPDX-License-Identifier: BSD-3-Clause
// The address range in which the GPUs of one node see each other's heaps: NodeArena for device memory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/cuda/physical_memory.h"

namespace railshmem::cuda {

/// Reserves one slot of `stride` bytes per PE of the node. Kernels and copies find a peer's object at base + slot *
/// stride + offset; the CPU cannot read there. A slot grows extent by extent. An access to an unmapped part faults. Not
/// thread-safe. Unmaps everything when destroyed: no kernel may use it then.
class DeviceArena {
 public:
  /// Least alignment of the base and of the stride: the granularity of all GPUs so far.
  static constexpr size_t kAlign = size_t{2} << 20;
  /// The base is never aligned beyond this.
  static constexpr size_t kMaxAlign = size_t{1} << 30;

  /// Reserves addresses only, no memory, for which no GPU is needed. attach() must follow before anything is mapped.
  /// `stride` is a multiple of kAlign. Throws Error.
  DeviceArena(const Driver& driver, size_t nslots, size_t stride);
  /// Reserves addresses and attaches to `gpu`. Throws Error.
  DeviceArena(const DeviceContext& gpu, size_t nslots, size_t stride);
  DeviceArena(const DeviceArena&) = delete;
  ~DeviceArena();

  /// Sets the GPU of this PE. Throws Error when its granularity does not divide the stride.
  void attach(const DeviceContext& gpu);

  /// Maps memory of this PE's own GPU at `at` bytes into a slot, for every GPU of this process that reaches it. NCCL
  /// registers only buffers mapped so. GPUs that do not reach the memory are in without_access(). Throws Error.
  std::byte* map_own(size_t slot, size_t at, const PhysicalMemory& memory);
  /// Maps a peer's memory for this PE's GPU. Throws Error when the GPU does not reach that memory.
  std::byte* map_peer(size_t slot, size_t at, const PhysicalMemory& memory);
  /// Gives a slot's memory back, or the extent mapped at `at`, and keeps the addresses reserved. Throws Error.
  void unmap(size_t slot);
  void unmap(size_t slot, size_t at);

  std::byte* address(size_t slot, size_t offset = 0) const noexcept { return base_ + slot * stride_ + offset; }
  std::byte* base() const noexcept { return base_; }
  size_t nslots() const noexcept { return nslots_; }
  size_t stride() const noexcept { return stride_; }
  size_t nbytes() const noexcept { return nslots_ * stride_; }
  /// Every slot's start is a multiple of this; equal on all PEs.
  size_t alignment() const noexcept;
  /// The stride for segments of `nbytes`: rounded up so far that slots are aligned for any object that they can hold.
  static size_t stride_for(size_t nbytes) noexcept;
  /// GPUs of this process whose kernels and copies cannot use this PE's heap: "GPU 1 (...)".
  const std::vector<std::string>& without_access() const noexcept { return without_access_; }

 private:
  struct Extent {
    size_t slot, at, nbytes;
  };
  std::byte* map(size_t slot, size_t at, const PhysicalMemory& memory, const std::vector<AccessDescription>& access);
  void reserve();
  void unmap_extent(const Extent& extent) noexcept;

  const Driver& driver_;
  const DeviceContext* gpu_ = nullptr;  ///< null: not attached
  std::byte* base_ = nullptr;
  size_t nslots_;
  size_t stride_;
  Address reserved_ = 0;  ///< at or before base_
  size_t reserved_nbytes_ = 0;
  std::vector<AccessDescription> own_access_;
  std::vector<std::string> without_access_;
  std::vector<Extent> extents_;
};

}  // namespace railshmem::cuda

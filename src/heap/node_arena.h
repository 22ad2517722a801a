// SPDX-License-Identifier: BSD-3-Clause
// The address range in which the PEs of one node see each other's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace railshmem {

/// Reserves one slot of `stride` bytes per PE of the node, so a peer's object is at base + slot * stride + offset:
/// arithmetic, no table. An access to an unmapped slot faults. Move-only; unmaps everything when destroyed.
class NodeArena {
 public:
  /// Least alignment of the base and of the stride: a huge page.
  static constexpr size_t kAlign = size_t{2} << 20;
  /// The base is never aligned beyond this.
  static constexpr size_t kMaxAlign = size_t{1} << 30;

  /// Reserves addresses only, no memory. `stride` is a multiple of kAlign. Throws Error naming the size and
  /// SHMEM_SYMMETRIC_SIZE when the range cannot be had.
  NodeArena(size_t nslots, size_t stride);
  /// Reserves the range at `base`; empty where an address of it is in use or cannot be had.
  static std::optional<NodeArena> reserve_at(uintptr_t base, size_t nslots, size_t stride);
  NodeArena(NodeArena&& other) noexcept;
  NodeArena& operator=(NodeArena&& other) noexcept;
  ~NodeArena();

  /// Maps this PE's own memory, or a peer's, read-write at `at` bytes into its slot; `nbytes` from the start of `fd`.
  /// The fd may be closed afterwards. A peer's pages stay out of this process's core dumps.
  std::byte* map_own(size_t slot, int fd, size_t nbytes, size_t at = 0);
  std::byte* map_peer(size_t slot, int fd, size_t nbytes, size_t at = 0);
  /// Gives a slot's memory back and keeps its addresses reserved.
  void unmap(size_t slot);

  std::byte* address(size_t slot, size_t offset = 0) const noexcept { return base_ + slot * stride_ + offset; }
  std::byte* base() const noexcept { return base_; }
  size_t nslots() const noexcept { return nslots_; }
  size_t stride() const noexcept { return stride_; }
  /// The stride for segments of `nbytes`: rounded up so far that slots are aligned for any object that they can hold.
  /// This spends only addresses.
  static size_t stride_for(size_t nbytes) noexcept;
  /// Every slot's start is a multiple of this: the largest power of two that divides the stride, at most kMaxAlign. It
  /// depends on the stride alone, so all PEs agree.
  size_t alignment() const noexcept;

 private:
  NodeArena(std::byte* base, size_t nslots, size_t stride) noexcept : base_(base), nslots_(nslots), stride_(stride) {}
  std::byte* map(size_t slot, int fd, size_t nbytes, size_t at);

  std::byte* base_ = nullptr;
  size_t nslots_ = 0;
  size_t stride_ = 0;
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Device memory of the program's own made symmetric: mapped once more, at the same offset behind the heap on every PE.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/cuda/user_memory.h"
#include "src/gpu/device_memory.h"

namespace railshmem {

/// What was mapped is reached like the heap: by arithmetic from kernels and host calls of the node, by its owner's
/// proxy from elsewhere. So no path of data knows of it. Collective where it says so, as DeviceMemory.
class SymmetricBuffers {
 public:
  /// `memory` must be attached, and outlive this.
  SymmetricBuffers(DeviceMemory& memory, Bootstrap& bootstrap, const NodeLayout& layout)
      : memory_(memory), bootstrap_(bootstrap), layout_(layout), window_(memory.limit()) {}
  SymmetricBuffers(const SymmetricBuffers&) = delete;

  /// Collective. The buffer's symmetric address; the program's own goes on to mean the same bytes. Throws Error on all
  /// PEs, naming the one that cannot, and leaves everything as it was.
  std::byte* add(void* address, size_t nbytes);
  /// Collective. `symmetric` and `nbytes` as add() returned and got them; operations on it must be over. Throws Error
  /// on all PEs where one of them has no such buffer.
  void remove(const std::byte* symmetric, size_t nbytes);
  size_t count() const noexcept { return buffers_.size(); }

 private:
  struct Mapping {
    size_t slot, at;
  };
  struct Buffer {
    std::byte* symmetric = nullptr;
    size_t nbytes = 0;
    size_t at = 0;  ///< in the window
    std::vector<Mapping> mappings;
  };

  cuda::UserMemory agree(void* address, size_t nbytes, size_t* window_nbytes);
  void map(Buffer& buffer, const cuda::UserMemory& mine);
  void drop(Buffer& buffer) noexcept;
  size_t my_slot() const noexcept { return static_cast<size_t>(layout_.my_slot); }
  bool shares() const noexcept { return memory_.reaches_node() && layout_.members.size() > 1; }

  DeviceMemory& memory_;
  Bootstrap& bootstrap_;
  const NodeLayout& layout_;
  OffsetAllocator window_;
  std::vector<Buffer> buffers_;
};

}  // namespace railshmem

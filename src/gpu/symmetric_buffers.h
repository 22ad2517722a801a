// SPDX-License-Identifier: BSD-3-Clause
// Device memory of the program made symmetric: it is mapped once more, behind the heap, at one offset on all PEs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/cuda/user_memory.h"
#include "src/gpu/device_memory.h"

namespace railshmem {

/// PEs reach a mapped buffer like the heap: kernels and host calls of the node by arithmetic, other nodes through its
/// owner's proxy. So the data path has no code for such buffers. "Collective" means what it means for DeviceMemory.
class SymmetricBuffers {
 public:
  /// `memory` must be attached, and outlive this.
  SymmetricBuffers(DeviceMemory& memory, Bootstrap& bootstrap, const NodeLayout& layout)
      : memory_(memory), bootstrap_(bootstrap), layout_(layout), window_(memory.limit()) {}
  SymmetricBuffers(const SymmetricBuffers&) = delete;

  /// Collective. Returns the buffer's symmetric address, a second address of its bytes beside the program's own. Throws
  /// Error on all PEs, naming the one that cannot, and leaves everything as it was.
  std::byte* add(void* address, size_t nbytes);
  /// Collective. Takes the address that add() returned and the nbytes that it got. Operations on the buffer must be
  /// over. Throws Error on all PEs where one of them has no such buffer.
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

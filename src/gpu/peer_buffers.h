// SPDX-License-Identifier: BSD-3-Clause
// At which address each PE of the node sees this PE's memory: the symmetric heap, and registered buffers.
#pragma once

#include <span>
#include <vector>

#include "src/gpu/device_memory.h"
#include "src/gpu/peer_view.h"

namespace railshmem {

/// Any number of threads, but for the constructor and the destructor.
class PeerBuffers {
 public:
  /// Collective over the job. `memory` must be attached; all arguments outlive this.
  PeerBuffers(DeviceMemory& memory, Bootstrap& bootstrap, const NodeLayout& layout);
  PeerBuffers(const PeerBuffers&) = delete;

  /// Local: where the `pes` of this node (numbers in the world) see [address, address + nbytes) of this PE's memory.
  /// Asks nobody for memory of the heap.
  PeerView find(std::span<const int> pes, const void* address, size_t nbytes);

 private:
  bool find_in_heap(std::span<const int> pes, const void* address, size_t nbytes, PeerView& view) const;
  size_t slot_of(int pe) const;

  DeviceMemory& memory_;
  const NodeLayout& layout_;
  std::vector<uint64_t> heap_at_slot_;  ///< this PE's heap as an address of the PE of each slot; 0: not mapped there
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// The job as a kernel sees it.
#ifndef SHMEM_DETAIL_WORLD_H
#define SHMEM_DETAIL_WORLD_H

#include <stdint.h>

#include <type_traits>

#include "shmem/detail/channel.h"

namespace railshmem {

/// PEs [first_pe, first_pe + node_npes) are load/store reachable: their heaps are mapped side by side, stride bytes
/// apart, so that an address is arithmetic and no table is read.
struct WorldView {
  int32_t pe;
  int32_t npes;
  int32_t first_pe;
  int32_t node_npes;
  unsigned char* node_heaps;  ///< heap of first_pe
  uint64_t slot_stride;
  unsigned char* heap;  ///< this PE's
  uint64_t heap_nbytes;
  const ChannelView* channels;
  uint32_t nchannels;
  uint16_t context;
  uint64_t timeout_ns;  ///< 0: waits end only by completion or error
};
static_assert(std::is_trivially_copyable<WorldView>::value && std::is_standard_layout<WorldView>::value,
              "goes to the GPU");

/// Where a peer's heap is mapped here; null when only the network reaches it.
RAILSHMEM_HD inline unsigned char* peer_heap(const WorldView& world, int pe) {
  const uint32_t index = static_cast<uint32_t>(pe - world.first_pe);
  if (index >= static_cast<uint32_t>(world.node_npes)) return nullptr;
  return world.node_heaps + index * world.slot_stride;
}

/// Offset of a symmetric address, which every PE's heap shares.
RAILSHMEM_HD inline uint64_t heap_offset(const WorldView& world, const void* symmetric) {
  return static_cast<uint64_t>(static_cast<const unsigned char*>(symmetric) - world.heap);
}

}  // namespace railshmem

#endif

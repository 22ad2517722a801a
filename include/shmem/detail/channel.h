// SPDX-License-Identifier: BSD-3-Clause
// A ring and the way back: what producers need to issue commands and to wait for them.
#ifndef SHMEM_DETAIL_CHANNEL_H
#define SHMEM_DETAIL_CHANNEL_H

#include "shmem/detail/ring.h"

namespace railshmem {

/// Where the proxy puts values for a kernel's thread that come from a PE which only the network reaches: no proxy can
/// write a thread's own variables. Cells are pinned host memory or GPU memory, depending on what the proxy can write.
/// `taken` is one word for each cell, in the memory of the GPU; 0 means free. Without cells (null) the address of the
/// variable goes into the command, which is right where producers are host threads.
struct ReplyCells {
  struct alignas(16) Cell {
    uint64_t value[2];
  };
  Cell* cells = nullptr;
  uint32_t* taken = nullptr;
  uint32_t log2_cells = 0;  ///< more cells than slots in the ring make it unlikely that anyone waits for one
};

struct ChannelView {
  RingView ring;
  const uint64_t* completed;
  Seen* completed_seen;
  ReplyCells replies = {};
  PayloadView payloads[kPayloadSizes] = {};  ///< by PayloadSize
  GetSlots gets = {};
};
static_assert(std::is_trivially_copyable<ChannelView>::value, "goes to the GPU");

}  // namespace railshmem

#endif

// SPDX-License-Identifier: BSD-3-Clause
// The memory a channel lives in. Where it comes from is decided here, so the ring does not know about GPUs.
#pragma once

#include <cstdint>
#include <memory>

#include "include/shmem/detail/ring.h"

namespace railshmem {

/// All zero when handed to a Channel. Pinned or GPU memory later fills the same fields with other blocks.
struct ChannelMemory {
  using Block = std::unique_ptr<void, void (*)(void*)>;

  Block slots_block;     ///< owns `slots`: host memory, pinned when kernels write it
  Block producer_block;  ///< owns `producer`; may be null when one block holds everything
  Block consumer_block;  ///< owns `consumer`; likewise
  Slot* slots;
  ProducerLine* producer;
  ConsumerLine* consumer;
  uint32_t log2_slots;
};

/// Plain aligned host memory: producers are threads of this process. Throws Error when there is none.
ChannelMemory host_channel_memory(uint32_t log2_slots);

}  // namespace railshmem

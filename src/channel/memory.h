// SPDX-License-Identifier: BSD-3-Clause
// The memory a channel lives in. Only this file knows where the memory comes from, so the ring knows nothing of GPUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "include/shmem/detail/ring.h"

namespace railshmem {

/// Slots for the data of puts and gets. Producers store into those of puts, and a Channel hands them back.
struct PayloadMemory {
  std::byte* slots = nullptr;  ///< small ones, large ones, those of gets, aligned to a cache line; null: no slots
  PayloadLine* producer = nullptr;
  uint32_t log2_large = 0;

  static size_t nbytes(uint32_t log2_large) noexcept {
    return gets_offset(log2_large) + payload_stride(PayloadSize::large) * kGetSlots;
  }
  static size_t large_offset() noexcept { return payload_stride(PayloadSize::small) << kLog2SmallPayloads; }
  static size_t gets_offset(uint32_t log2_large) noexcept {
    return large_offset() + (payload_stride(PayloadSize::large) << log2_large);
  }
};

/// All zero when handed to a Channel. Channels of kernels fill these fields with blocks of pinned and GPU memory.
struct ChannelMemory {
  using Block = std::unique_ptr<void, void (*)(void*)>;

  Block slots_block;     ///< owns `slots`: host memory, pinned when kernels write it
  Block producer_block;  ///< owns `producer`; may be null when one block holds everything
  Block consumer_block;  ///< owns `consumer`; may be null when one block holds everything
  Slot* slots;
  ProducerLine* producer;
  ConsumerLine* consumer;
  uint32_t log2_slots;
  PayloadMemory payloads = {};
};

/// Plain aligned host memory: producers are threads of this process. Throws Error if none exists.
ChannelMemory host_channel_memory(uint32_t log2_slots);

}  // namespace railshmem

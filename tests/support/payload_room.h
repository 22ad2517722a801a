// SPDX-License-Identifier: BSD-3-Clause
// The payload slots of one ring, in plain memory.
#pragma once

#include <cstddef>
#include <vector>

#include "src/channel/memory.h"

namespace railshmem {

struct PayloadRoom {
  explicit PayloadRoom(uint32_t log2) : log2_large(log2), bytes(PayloadMemory::nbytes(log2)) {}
  PayloadRoom(const PayloadRoom&) = delete;  // channels hold its addresses

  PayloadMemory memory() noexcept { return {bytes.data(), &line, log2_large}; }
  /// Memory of a channel that has these slots.
  ChannelMemory with_ring(uint32_t log2_slots) {
    ChannelMemory ring = host_channel_memory(log2_slots);
    ring.payloads = memory();
    return ring;
  }

  const uint32_t log2_large;
  PayloadLine line{};
  std::vector<std::byte> bytes;
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// A ring without a channel, and commands that cannot be mistaken for each other.
#pragma once

#include <cstdint>

#include "src/channel/memory.h"
#include "src/channel/ring.h"

namespace railshmem {

/// A ring, its memory and the producers' view of it, without a channel.
struct TestRing {
  explicit TestRing(uint32_t log2_slots)
      : memory(host_channel_memory(log2_slots)),
        ring(memory.slots, &memory.consumer->consumed, log2_slots),
        view{memory.slots,
             &memory.producer->head,
             &memory.producer->consumed_seen,
             &memory.consumer->consumed,
             &memory.consumer->error,
             nullptr,
             log2_slots} {}
  ChannelMemory memory;
  Ring ring;
  RingView view;
};

/// Every field follows from the seed, so a mixture of two commands equals none.
RAILSHMEM_HD inline Command command_of(uint64_t seed) {
  Command c;
  c.op = CommandOp::put_signal;
  c.context = static_cast<uint16_t>(seed);
  c.pe = static_cast<uint32_t>(seed & kMaxCommandPe);
  c.nbytes = seed & ~kLapBit;
  c.remote_offset = (seed * 3) & ~kLapBit;
  c.local = seed * 5;
  c.value = seed * 7;
  c.compare = seed * 11;
  c.signal_offset = (seed * 13) & ~kLapBit;
  c.signal_value = seed;
  return c;
}

}  // namespace railshmem

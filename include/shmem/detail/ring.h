// SPDX-License-Identifier: BSD-3-Clause
// A command ring as its producers see it.
#ifndef SHMEM_DETAIL_RING_H
#define SHMEM_DETAIL_RING_H

#include <stdint.h>

#include <type_traits>

#include "shmem/detail/command.h"
#include "shmem/detail/payload.h"

namespace railshmem {

/// How an operation of a kernel ended. The first values may also be in an error word: they say why a channel or the job
/// no longer works, and waits return them instead of hanging. The later values are the caller's mistakes.
enum class ChannelStatus : uint32_t {
  ok = 0,
  timeout,      ///< a wait passed its deadline
  stopped,      ///< the proxy was stopped with commands unfinished
  peer_lost,    ///< a peer died or does not answer
  failed,       ///< any other failure of the network, reported by the host
  bad_pe,       ///< no such PE in the world, or in the team of the context
  bad_address,  ///< not in symmetric memory, or runs over its end
  bad_handle,   ///< no such context or team, or this PE is not in it
  bad_argument,
  no_channel,   ///< only the network reaches the target, and kernels of this job have no ring
  unsupported,  ///< this type exists on the host only
  promised,     ///< the program declared that nobody outside the node updates the word but by SET
  closed,       ///< a graph was launched whose team, or the library, has gone
};

/// Written by producers: GPU memory when they run there. One cache line.
struct alignas(64) ProducerLine {
  uint64_t head;  ///< next free ticket
  Seen consumed_seen;
  Seen completed_seen;
};

/// Written by the proxy and polled by producers: GPU memory when they run there and the CPU can store to it.
struct alignas(64) ConsumerLine {
  uint64_t consumed;   ///< slots of tickets below this may be written again
  uint64_t completed;  ///< all tickets below this are finished
  uint64_t error;      ///< ChannelStatus; set by the thread that finds the channel dead, and never back to ok
  uint64_t freed[kPayloadSizes];  ///< see PayloadView::freed
};
static_assert(sizeof(ProducerLine) == 64 && sizeof(ConsumerLine) == 64, "one line each");

/// Ticket t lives in slot t modulo the ring's size. A ticket once reserved must be written, or the ring is dead.
struct RingView {
  Slot* slots;
  uint64_t* head;
  Seen* consumed_seen;
  const uint64_t* consumed;
  uint64_t* error;
  uint32_t* doorbell;  ///< 0: the proxy is awake; else 1 + the eventfd that wakes it. Null for rings of kernels.
  uint32_t log2_slots;
};
static_assert(std::is_trivially_copyable<RingView>::value && std::is_standard_layout<RingView>::value,
              "goes to the GPU");

/// A command as the slot of `ticket` holds it.
RAILSHMEM_HD inline Slot encode(const RingView& ring, uint64_t ticket, const Command& command) {
  return encode(command, lap_bit(ticket, ring.log2_slots));
}

}  // namespace railshmem

#endif

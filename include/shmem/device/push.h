// SPDX-License-Identifier: BSD-3-Clause
// Handing a command to the proxy.
#ifndef SHMEM_DEVICE_PUSH_H
#define SHMEM_DEVICE_PUSH_H

#include <stdint.h>

#include "shmem/detail/channel.h"
#include "shmem/detail/portable.h"
#include "shmem/device/reserve.h"

#if !defined(__CUDA_ARCH__)
#include <unistd.h>
#endif

namespace railshmem {
namespace device {

/// `released`: a system-scope release already covers what the command points to (or it points to nothing).
enum class Payload : uint8_t { written, released };

/// Wakes a sleeping proxy after a push by a host thread; see Channel::arm for why nothing is lost.
RAILSHMEM_HD inline void wake_proxy(const RingView& ring) {
#if !defined(__CUDA_ARCH__)
  if (ring.doorbell == nullptr) return;
  // acq_rel: pairs with the exchange in Channel::arm(). Anything weaker lets the slot's store pass it, and both sides
  // miss.
  const uint32_t armed = portable::exchange(ring.doorbell, 0);
  if (armed == 0) return;
  const uint64_t one = 1;
  // The counter of an eventfd cannot fill up by ones, and a closed fd means that the job ends: nothing to report.
  [[maybe_unused]] const ssize_t written = ::write(static_cast<int>(armed - 1), &one, sizeof one);
#else
  (void)ring;
#endif
}

/// Hands out the next ticket and writes its slot. Blocks while the ring is full, until the deadline; safe from any
/// number of threads unless P says otherwise. Finished when `completed` exceeds the ticket.
template <Producers P = Producers::many>
RAILSHMEM_HD inline Reserved push(const RingView& ring, const Command& command, Deadline deadline,
                                  Payload payload = Payload::written) {
  const Reserved reserved = reserve_one<P>(ring, deadline);
  if (reserved.status != ChannelStatus::ok) return reserved;
  // One fence, then relaxed stores: a release per slot store would wait for the slot before it.
  if (payload == Payload::written) portable::release_fence();
  Slot* const slot = ring.slots + (reserved.ticket & ((uint64_t{1} << ring.log2_slots) - 1));
  const Slot encoded = encode(ring, reserved.ticket, command);
  // A word is never seen half written (see Ring::peek).
  for (int i = 0; i < kWordsPerSlot; ++i) {
    portable::store_pair(&slot->word[i].lo, encoded.word[i].lo, encoded.word[i].hi);
  }
  wake_proxy(ring);
  return reserved;
}

}  // namespace device
}  // namespace railshmem

#endif

// SPDX-License-Identifier: BSD-3-Clause
// Tickets: who may write which slot, and when.
#ifndef SHMEM_DEVICE_RESERVE_H
#define SHMEM_DEVICE_RESERVE_H

#include <stdint.h>

#include "shmem/detail/portable.h"
#include "shmem/detail/ring.h"
#include "shmem/detail/threads.h"
#include "shmem/device/wait.h"

namespace railshmem {
namespace device {

/// Who pushes into a ring. A ring private to one thread (or to the leader of a warp or block) needs no atomic.
enum class Producers : uint8_t { many, one };

/// A reserved run of tickets, or why none exists.
struct Reserved {
  uint64_t ticket;
  ChannelStatus status;
};

/// The consumer's count as one of the producers read it last. Read before the ticket is taken, so that both are under
/// way together; an older count only costs another look.
RAILSHMEM_HD inline uint64_t consumed_so_far(const RingView& ring) {
  // Pairs with the release in wait_for_room(): a thread that trusts another thread's reading needs what that thread
  // acquired. A thread only stores into the slot after this load.
  return portable::load_to_store(&ring.consumed_seen->count);
}

/// Waits until the slot of `ticket` may be written, the last one of n. `consumed` is consumed_so_far(). The threads
/// whose turn is next read the consumer's count, which is across PCIe, and tell the others. They are few, because
/// copies wait behind such reads (decision 0033).
RAILSHMEM_HD inline ChannelStatus wait_for_room(const RingView& ring, uint64_t ticket, uint32_t n, uint64_t consumed,
                                                Deadline deadline) {
  const uint64_t slots = uint64_t{1} << ring.log2_slots;
  if (ticket - consumed < slots) return ChannelStatus::ok;
  Waiter waiter(ring.error, deadline);
  for (;;) {
    // Threads next to the first slot without room look, so the next ticket waits for no other; the shared count may be
    // old.
    const bool looks = kNearConsumer || ticket - consumed < slots + n + 3 || waiter.is_due();
    // acquire: pairs with the release in Ring::publish(); without it our stores could overtake the proxy's loads of the
    // command that the slot still holds.
    consumed = portable::load_acquire(looks ? ring.consumed : &ring.consumed_seen->count);
    if (ticket - consumed < slots) {
      // Two threads may store in either order; an older value only costs its reader another look at `consumed`.
      if (looks) portable::store_release_near(&ring.consumed_seen->count, consumed);
      return ChannelStatus::ok;
    }
    const ChannelStatus status = waiter.turn(consumed);
    if (status != ChannelStatus::ok) return status;
  }
}

/// Takes the next `n` tickets and waits for room for all of them; n is at most the ring's size. They must be written:
/// when the wait fails the ring has a hole, so the channel is marked dead, which ends every other wait on it as well.
template <Producers P = Producers::many>
RAILSHMEM_HD inline Reserved reserve(const RingView& ring, uint32_t n, Deadline deadline) {
  const uint64_t consumed = consumed_so_far(ring);
  if constexpr (P == Producers::one) {
    // relaxed: only this thread writes the head.
    const uint64_t ticket = portable::load_relaxed(ring.head);
    const ChannelStatus status = wait_for_room(ring, ticket + n - 1, n, consumed, deadline);
    // Without room nothing was taken: the channel stays usable.
    if (status == ChannelStatus::ok) portable::store_relaxed(ring.head, ticket + n);
    return {ticket, status};
  } else {
    // relaxed: the head orders nothing; the slot's words carry the release.
    const uint64_t ticket = portable::fetch_add_relaxed(ring.head, n);
    const ChannelStatus status = wait_for_room(ring, ticket + n - 1, n, consumed, deadline);
    if (status != ChannelStatus::ok) portable::set_once(ring.error, static_cast<uint64_t>(status));
    return {ticket, status};
  }
}

/// One ticket for each calling thread. Threads of a warp that call together on one ring share one atomic and one wait,
/// and get neighbouring slots, so a kernel's ring has at least 32. Not only for speed: lanes that waited one by one
/// could have tickets more than a ring apart, and a lane with room might be held at the loop's end by one that waits
/// for that lane's command.
template <Producers P = Producers::many>
RAILSHMEM_HD inline Reserved reserve_one(const RingView& ring, Deadline deadline) {
#if defined(__CUDA_ARCH__) || defined(RAILSHMEM_EMULATION)
  if constexpr (P == Producers::many) {
    const uint32_t active = threads::active_lanes();
    if ((active & (active - 1)) == 0) return reserve<P>(ring, 1, deadline);  // alone
    const uint32_t together = threads::equal_lanes(active, reinterpret_cast<uintptr_t>(ring.head));
    const uint32_t before = threads::lanes_before() & together;
    Reserved run{0, ChannelStatus::ok};
    if (before == 0) run = reserve<P>(ring, threads::count_lanes(together), deadline);
    const uint32_t leader = threads::first_lane(together);
    const uint64_t first = threads::from_lane(together, run.ticket, leader);
    const uint64_t status = threads::from_lane(together, static_cast<uint64_t>(run.status), leader);
    threads::sync_lanes(together);  // no lane stores to its slot before the leader has seen room for all
    return {first + threads::count_lanes(before), static_cast<ChannelStatus>(status)};
  }
#endif
  return reserve<P>(ring, 1, deadline);
}

}  // namespace device
}  // namespace railshmem

#endif

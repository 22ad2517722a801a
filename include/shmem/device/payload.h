// SPDX-License-Identifier: BSD-3-Clause
// Puts whose data the calling threads store into slots of pinned host memory, because no NIC reads the GPU's memory
// (decision 0076). One command names the slots. Who finds no slot free waits for one.
#ifndef SHMEM_DEVICE_PAYLOAD_H
#define SHMEM_DEVICE_PAYLOAD_H

#include <stdint.h>

#include <type_traits>

#include "shmem/device/copy_by.h"
#include "shmem/device/issue.h"

namespace railshmem {
namespace device {

/// Scopes whose threads store into slots, together. Other scopes put by one thread, from where copy engines fetch.
template <class Scope>
inline constexpr bool kStoresInSlots = std::is_same<Scope, ThreadScope>::value ||
                                       std::is_same<Scope, WarpScope>::value || std::is_same<Scope, BlockScope>::value;

/// The longest put of a scope that goes by slots.
template <class Scope>
RAILSHMEM_HD constexpr uint64_t longest_by_slots() {
  return Scope::kPayloads * payload_nbytes(Scope::kPayloadSize);
}

/// Whether a put goes by slots. Rails read the host's heap themselves.
template <class Scope>
RAILSHMEM_HD inline bool goes_by_slots(const WorldView& world, const ChannelView& channel, const void* source,
                                       uint64_t nbytes) {
  const auto in_host_heap =
      static_cast<uint64_t>(static_cast<const unsigned char*>(source) - world.other.mine) < world.other.nbytes;
  return channel.payloads[0].slots != nullptr && nbytes <= longest_by_slots<Scope>() && !in_host_heap;
}

/// A put by slots under way: each thread of the scope has its own. It is in memory between the steps below, which are
/// out of line: its registers are not those of threads that store data.
struct SlotPut {
  RAILSHMEM_HD SlotPut(const Command& c, const void* source)
      : command(c), from(static_cast<const unsigned char*>(source)), left(c.nbytes) {}

  Command command;                           ///< for the slots that are being filled
  const unsigned char* from;                 ///< what goes there
  uint64_t left;                             ///< with what goes there
  uint32_t number = 0;                       ///< of the first of those slots
  uint32_t taken = 0;                        ///< slots taken and not yet filled
  int size = 0;                              ///< PayloadSize of the slots
  ChannelStatus status = ChannelStatus::ok;  ///< the leader's
};

/// Slots that were taken, or why none exist.
struct TakenSlots {
  uint32_t first;  ///< number of the first one
  ChannelStatus status;
};

/// Slots taken before this one are free again, as far as this GPU knows. Reads the proxy's count, which is across PCIe,
/// unless another thread does so now.
RAILSHMEM_HD inline uint64_t look_for_freed(const PayloadView& pool) {
  // relaxed, like every access to `looking`: the count itself carries the order.
  if (portable::load_relaxed(&pool.freed_seen->looking) != 0 ||
      portable::fetch_add_relaxed(&pool.freed_seen->looking, 1) != 0)
    return portable::load_to_store(&pool.freed_seen->count);
  // acquire: pairs with the release in Payloads::publish(); without it stores into a slot could overtake the proxy's or
  // the NIC's reads of it.
  const uint64_t freed = portable::load_acquire(pool.freed);
  portable::store_release_near(&pool.freed_seen->count, freed);
  portable::store_relaxed(&pool.freed_seen->looking, 0);
  return freed;
}

/// Waits until slots taken before number `least` are free. The proxy alone frees slots, so a kernel that fills the GPU
/// may wait here. When the wait fails the caller's slots are a hole in their circle, so the channel is marked dead,
/// which ends every other wait on it as well.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus wait_for_slots(const WorldView& world, const PayloadView& pool,
                                                                       uint64_t least) {
  Waiter waiter(my_channel(world).ring.error, deadline_of(world));
  for (;;) {
    // A mark that a kernel left behind when it was ended stops nobody for long.
    const uint64_t freed = waiter.is_due() ? portable::load_acquire(pool.freed) : look_for_freed(pool);
    // Signed: other threads may have taken slots since, and the proxy freed them.
    if (static_cast<int64_t>(least - freed) <= 0) return ChannelStatus::ok;
    const ChannelStatus status = waiter.turn(freed);
    if (status == ChannelStatus::ok) continue;
    portable::set_once(my_channel(world).ring.error, static_cast<uint64_t>(status));
    return status;
  }
}

/// Takes n slots that follow each other in their circle, at most all of them, and waits until they are free. They must
/// be named in a command.
RAILSHMEM_HD inline TakenSlots take_slots(const WorldView& world, const PayloadView& pool, uint32_t n) {
  const uint64_t slots = uint64_t{1} << pool.log2_slots;
  // Ahead of the atomic, so that both are under way; an older count only costs a look at the proxy's.
  const uint64_t seen = portable::load_to_store(&pool.freed_seen->count);
  // relaxed: the head orders nothing; the command that names the slots does.
  const uint64_t head = portable::fetch_add_relaxed(pool.head, n);
  const uint64_t least = head + n - slots;  // below 0 in the circle's first round: nothing to wait for
  if (static_cast<int64_t>(least - seen) > 0) {
    const ChannelStatus status = wait_for_slots(world, pool, least);
    if (status != ChannelStatus::ok) return {0, status};
  }
  return {static_cast<uint32_t>(head & (slots - 1)), ChannelStatus::ok};
}

/// One slot for each calling thread: lanes of a warp that call together take theirs by one atomic, all or none.
RAILSHMEM_HD inline TakenSlots take_slot(const WorldView& world, const PayloadView& pool) {
#if defined(__CUDA_ARCH__) || defined(RAILSHMEM_EMULATION)
  const uint32_t together = threads::equal_lanes(threads::active_lanes(), reinterpret_cast<uintptr_t>(pool.head));
  const uint32_t before = threads::lanes_before() & together;
  TakenSlots taken{0, ChannelStatus::ok};
  if (before == 0) taken = take_slots(world, pool, threads::count_lanes(together));
  const uint64_t word = static_cast<uint64_t>(taken.status) << 32 | taken.first;
  const uint64_t told = threads::from_lane(together, word, threads::first_lane(together));
  threads::sync_lanes(together);  // no lane stores into its slot before the first one has seen it free
  const uint32_t number = static_cast<uint32_t>(told) + threads::count_lanes(before);
  return {number & ((1u << pool.log2_slots) - 1), static_cast<ChannelStatus>(told >> 32)};
#else
  return take_slots(world, pool, 1);
#endif
}

/// Chooses the size of the slots that are taken next, and how many.
template <class Scope>
RAILSHMEM_HD inline void choose_slots(const WorldView& world, SlotPut& put) {
  put.size = static_cast<int>(put.left <= kSmallPayload ? PayloadSize::small : Scope::kPayloadSize);
  put.taken = 1;
  if constexpr (Scope::kPayloads > 1) {
    const uint64_t wanted = (put.left + payload_nbytes(Scope::kPayloadSize) - 1) / payload_nbytes(Scope::kPayloadSize);
    const uint32_t all = 1u << my_channel(world).payloads[put.size].log2_slots;
    const uint32_t most = all < Scope::kPayloads ? all : Scope::kPayloads;
    put.taken = wanted < most ? static_cast<uint32_t>(wanted) : most;
  }
}

/// Takes slots for what is left, of one size and at most Scope::kPayloads. False for all threads when the leader has
/// failed, here or before.
template <class Scope>
RAILSHMEM_HD inline bool take_next_slots(const WorldView& world, SlotPut& put) {
  choose_slots<Scope>(world, put);
  const PayloadView& pool = my_channel(world).payloads[put.size];
  TakenSlots taken{0, put.status};
  if constexpr (std::is_same<Scope, ThreadScope>::value) {
    if (put.status == ChannelStatus::ok) taken = take_slot(world, pool);
  } else {
    if (Scope::leads() && put.status == ChannelStatus::ok) taken = take_slots(world, pool, put.taken);
  }
  put.status = taken.status;
  const uint32_t told =
      Scope::from_leader(taken.status == ChannelStatus::ok ? 1 + taken.first : 0, 1u << pool.log2_slots);
  put.number = told - 1;
  return told != 0;
}

/// push() of a command that is in memory: its words take no registers of the caller.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline Reserved push_kept(const WorldView& world, const Command& command,
                                                             Payload payload) {
  return push(my_channel(world).ring, command, deadline_of(world), payload);
}

/// Pushes the command of full slots. Its fence covers what the other threads stored before they met this one.
RAILSHMEM_HD inline void push_slots(const WorldView& world, SlotPut& put) {
  if (put.status != ChannelStatus::ok) return;
  put.command.value = payload_name(static_cast<PayloadSize>(put.size), put.number);
  put.status = push_kept(world, put.command, Payload::written).status;
}

/// The calling thread's share of the copy into the slots.
template <class Scope>
RAILSHMEM_HD inline void store_in_slots(const WorldView& world, const SlotPut& put) {
  unsigned char* const to = my_channel(world).payloads[put.size].slots +
                            put.number * payload_stride(static_cast<PayloadSize>(put.size)) + put.command.local;
  // The variable of one thread is copied by the leader: others have their own.
  const bool alone = std::is_same<Scope, ThreadScope>::value || portable::is_private(put.from);
  if (!alone || Scope::leads())
    copy_alike<Scope::kCopyUnroll>(alone ? 0 : Scope::rank(), alone ? 1 : Scope::size(), to, put.from,
                                   put.command.nbytes);
}

/// Fills slots that were taken and follow each other, and pushes their command: all that were taken, unless the circle
/// ends between them.
template <class Scope>
RAILSHMEM_HD inline void fill_slots(const WorldView& world, SlotPut& put) {
  const uint32_t behind = (1u << my_channel(world).payloads[put.size].log2_slots) - put.number;
  const uint32_t slots = put.taken < behind ? put.taken : behind;
  const uint64_t most = slots * payload_nbytes(static_cast<PayloadSize>(put.size));
  put.command.nbytes = put.left < most ? put.left : most;
  put.command.local = address_of(put.from) & (kPayloadAlign - 1);
  store_in_slots<Scope>(world, put);
  Scope::sync();
  if (Scope::leads()) push_slots(world, put);
  put.taken -= slots;
  put.number = 0;
  put.left -= put.command.nbytes;
  put.from += put.command.nbytes;
  put.command.remote_offset += put.command.nbytes;
}

/// Puts that goes_by_slots(), by the threads of the scope together. `put` has a put_payload, or a put_payload_signal of
/// at most one slot. Returns when the source may be written again; the leading thread returns a failure, the others ok.
template <class Scope>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus put_by_slots(const WorldView& world, SlotPut& put) {
  if constexpr (Scope::kPayloads == 1) {
    if (take_next_slots<Scope>(world, put)) fill_slots<Scope>(world, put);
  } else {
    RAILSHMEM_NO_UNROLL
    while (put.left > 0) {
      if (put.taken == 0 && !take_next_slots<Scope>(world, put)) break;
      fill_slots<Scope>(world, put);
    }
  }
  return put.status;
}

}  // namespace device
}  // namespace railshmem

#endif

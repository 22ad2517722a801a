// SPDX-License-Identifier: BSD-3-Clause
// Gets into slots of pinned host memory, from which the calling threads read, because no NIC writes the GPU's memory
// (decision 0076). Only for calls that return with the data.
#ifndef SHMEM_DEVICE_GET_SLOT_H
#define SHMEM_DEVICE_GET_SLOT_H

#include <stdint.h>

#include "shmem/device/payload.h"

namespace railshmem {
namespace device {

/// A get by a slot: each thread of the scope has its own. It is in memory, like SlotPut.
struct SlotGet {
  /// `c` has all but the slot.
  RAILSHMEM_HD SlotGet(const Command& c, void* to) : command(c), dest(static_cast<unsigned char*>(to)) {
    command.local = address_of(to) & (kPayloadAlign - 1);
  }

  Command command;  ///< a get_payload
  unsigned char* dest;
  ChannelStatus status = ChannelStatus::ok;  ///< the leader's
};

/// Whether a get goes by a slot. Rails write the host's heap themselves.
template <class Scope>
RAILSHMEM_HD inline bool gets_by_slot(const WorldView& world, const ChannelView& channel, const void* dest,
                                      uint64_t nbytes) {
  const auto in_host_heap =
      static_cast<uint64_t>(static_cast<const unsigned char*>(dest) - world.other.mine) < world.other.nbytes;
  return channel.gets.slots != nullptr && nbytes <= Scope::kGetBytes && !in_host_heap;
}

/// Returns a free slot's number and 1, or 0 when all are taken: it never waits, because lanes that have a slot might be
/// held up by those of their warp that wait for one.
RAILSHMEM_HD inline uint32_t take_get_slot(const GetSlots& gets, uint32_t start) {
  RAILSHMEM_NO_UNROLL
  for (uint32_t i = 0; i < kGetSlots; ++i) {
    const uint32_t at = (start + i) % kGetSlots;
    if (portable::take(gets.taken + at)) return at + 1;
  }
  return 0;
}

/// Asks for the data and waits for it. By one thread.
RAILSHMEM_HD inline void fetch_into_slot(const WorldView& world, SlotGet& get) {
  // released: kernels only read the slot.
  const Reserved pushed = push_kept(world, get.command, Payload::released);
  get.status = end_of(world, my_channel(world), pushed, Completion::now);
}

/// The calling thread's share of the copy out of the slot.
template <class Scope>
RAILSHMEM_HD inline void read_from_slot(const WorldView& world, const SlotGet& get) {
  const unsigned char* const from =
      my_channel(world).gets.slots + get.command.value * payload_stride(PayloadSize::large) + get.command.local;
  // Into a variable of one thread the leader copies: others have their own.
  const bool alone = std::is_same<Scope, ThreadScope>::value || portable::is_private(get.dest);
  if (!alone || Scope::leads())
    copy_alike<4>(alone ? 0 : Scope::rank(), alone ? 1 : Scope::size(), get.dest, from, get.command.nbytes);
}

/// Gets that gets_by_slot(), by the threads of the scope together; returns with the data. False: no slot is free, and
/// nothing happened. get.status has the leading thread's failure.
template <class Scope>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline bool get_by_slot(const WorldView& world, SlotGet& get) {
  const GetSlots& slots = my_channel(world).gets;
  uint32_t told = 0;
  if (Scope::leads()) told = take_get_slot(slots, threads::lane());
  told = Scope::from_leader(told, kGetSlots);
  if (told == 0) return false;
  get.command.value = told - 1;
  if (Scope::leads()) fetch_into_slot(world, get);
  Scope::sync();  // what the leader has acquired, all have
  // After a failure the slot stays taken: its data may still come.
  if (Scope::from_leader(get.status == ChannelStatus::ok ? 1 : 0, 1) == 0) return true;
  read_from_slot<Scope>(world, get);
  Scope::sync();
  // release: the next owner's data must not be what these threads read.
  if (Scope::leads()) portable::store_release(slots.taken + get.command.value, 0);
  return true;
}

}  // namespace device
}  // namespace railshmem

#endif

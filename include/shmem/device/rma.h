// SPDX-License-Identifier: BSD-3-Clause
// Put and get: by load and store where the peer is mapped, else by a command. The threads of a scope call together.
// What other threads of the scope wrote must be visible to all of them before (sync the scope), as for any shared data.
// A blocking form ends with all threads of the scope together; in the other forms each thread has done its share.
#ifndef SHMEM_DEVICE_RMA_H
#define SHMEM_DEVICE_RMA_H

#include <stdint.h>

#include <type_traits>

#include "shmem/device/copy_by.h"
#include "shmem/device/far.h"
#include "shmem/device/get_slot.h"
#include "shmem/device/order.h"
#include "shmem/device/scope.h"

namespace railshmem {
namespace device {

/// Puts to an object that near_place() does not know: it is in another heap, on another node, or nowhere.
template <class Scope>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus put_elsewhere(const WorldView& world, void* dest,
                                                                      const void* source, uint64_t nbytes,
                                                                      RAILSHMEM_STRUCT(Peer) peer, Payload payload,
                                                                      Completion completion) {
  if (nbytes == 0) return ChannelStatus::ok;
  const HeapPlace place = reach(world, dest, peer.pe);
  if (world.check != 0) {
    const ChannelStatus wrong = check_range(world, place, nbytes, peer.pe);
    if (wrong != ChannelStatus::ok) return wrong;
  }
  if (place.here != nullptr) {
    copy_by<Scope>(place.here, source, nbytes);
    return ChannelStatus::ok;
  }
  if constexpr (kStoresInSlots<Scope>) {
    if (nbytes > kInlineBytes && refusal(world, place, peer.pe) == ChannelStatus::ok &&
        goes_by_slots<Scope>(world, my_channel(world), source, nbytes)) {
      SlotPut put{command_to(world, CommandOp::put_payload, place, nbytes, peer), source};
      return put_by_slots<Scope>(world, put);
    }
  }
  return Scope::leads() ? put_far(world, place, source, nbytes, peer, payload, completion) : ChannelStatus::ok;
}

/// now: returns when `source` may be reused. later: `source` must stay untouched until quiet.
template <class Scope = ThreadScope>
RAILSHMEM_HD inline ChannelStatus putmem(const WorldView& world, void* dest, const void* source, uint64_t nbytes,
                                         Peer peer, Completion completion, Payload payload = Payload::written) {
  const NearPlace target = near_place(world, dest, nbytes, peer.pe);
  ChannelStatus status = ChannelStatus::ok;
  if (!target.near) {
    status = put_elsewhere<Scope>(world, dest, source, nbytes, Peer(peer), payload, completion);
  } else {
    copy_by<Scope>(target.here, source, nbytes);
  }
  if (completion == Completion::now) Scope::sync();
  return status;
}

template <class Scope>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus get_elsewhere(const WorldView& world, void* dest,
                                                                      const void* source, uint64_t nbytes,
                                                                      RAILSHMEM_STRUCT(Peer) peer,
                                                                      Completion completion) {
  if (nbytes == 0) return ChannelStatus::ok;
  const HeapPlace place = reach(world, source, peer.pe);
  if (world.check != 0) {
    const ChannelStatus wrong = check_range(world, place, nbytes, peer.pe);
    if (wrong != ChannelStatus::ok) return wrong;
  }
  if (place.here != nullptr) {
    copy_by<Scope>(dest, place.here, nbytes);
    return ChannelStatus::ok;
  }
  if constexpr (kStoresInSlots<Scope>) {
    if (completion == Completion::now && refusal(world, place, peer.pe) == ChannelStatus::ok &&
        gets_by_slot<Scope>(world, my_channel(world), dest, nbytes)) {
      SlotGet get{command_to(world, CommandOp::get_payload, place, nbytes, peer), dest};
      if (get_by_slot<Scope>(world, get)) return get.status;
    }
  }
  return Scope::leads() ? get_far(world, place, dest, nbytes, peer, completion) : ChannelStatus::ok;
}

/// now: returns with the data. later: `dest` is undefined until quiet. Through the proxy `dest` is symmetric or
/// registered memory, or else a few bytes.
template <class Scope = ThreadScope>
RAILSHMEM_HD inline ChannelStatus getmem(const WorldView& world, void* dest, const void* source, uint64_t nbytes,
                                         Peer peer, Completion completion) {
  const NearPlace origin = near_place(world, source, nbytes, peer.pe);
  ChannelStatus status = ChannelStatus::ok;
  if (!origin.near) {
    status = get_elsewhere<Scope>(world, dest, source, nbytes, Peer(peer), completion);
  } else {
    copy_by<Scope>(dest, origin.here, nbytes);
  }
  if (completion == Completion::now) Scope::sync();
  return status;
}

/// One store, by the number of bytes.
RAILSHMEM_HD inline void store_element(void* to, uint64_t bits, uint64_t nbytes) {
  if (nbytes == 8) {
    *static_cast<volatile copying::Bytes8*>(to) = bits;
  } else if (nbytes == 4) {
    *static_cast<volatile copying::Bytes4*>(to) = static_cast<uint32_t>(bits);
  } else if (nbytes == 2) {
    *static_cast<volatile copying::Bytes2*>(to) = static_cast<uint16_t>(bits);
  } else {
    *static_cast<volatile copying::Bytes1*>(to) = static_cast<unsigned char>(bits);
  }
}

/// The bits of an element of up to 8 bytes.
template <class T>
RAILSHMEM_HD inline uint64_t bits_of(T value) {
  static_assert(sizeof(T) <= kInlineBytes && std::is_trivially_copyable<T>::value, "one element, moved as bytes");
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}

/// p() to an object that near_element() does not know. One function for all types, with all that is below it: a thread
/// that issues alone waits for each instruction.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus p_elsewhere(const WorldView& world, void* dest, uint64_t bits,
                                                                    uint64_t nbytes, RAILSHMEM_STRUCT(Peer) peer) {
  const HeapPlace place = reach(world, dest, peer.pe);
  if (world.check != 0) {
    const ChannelStatus wrong = check_range(world, place, nbytes, peer.pe);
    if (wrong != ChannelStatus::ok) return wrong;
  }
  if (place.here == nullptr) return put_value_far(world, place, bits, nbytes, peer);
  store_element(place.here, bits, nbytes);
  return ChannelStatus::ok;
}

/// One value of up to 8 bytes, in one store or in the command.
template <class T>
RAILSHMEM_HD inline ChannelStatus p(const WorldView& world, T* dest, T value, Peer peer) {
  const NearPlace target = near_element(world, dest, peer.pe);
  if (!target.near) return p_elsewhere(world, dest, bits_of(value), sizeof(T), Peer(peer));
  *reinterpret_cast<volatile T*>(target.here) = value;
  return ChannelStatus::ok;
}

template <class T>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus g_elsewhere(const WorldView& world, T* value, const T* source,
                                                                    RAILSHMEM_STRUCT(Peer) peer) {
  const HeapPlace place = reach(world, source, peer.pe);
  if (world.check != 0) {
    const ChannelStatus wrong = check_range(world, place, sizeof(T), peer.pe);
    if (wrong != ChannelStatus::ok) return wrong;
  }
  if (place.here != nullptr) {
    *value = *reinterpret_cast<const volatile T*>(place.here);
    return ChannelStatus::ok;
  }
  T fetched{};
  const ChannelStatus status = get_far(world, place, &fetched, sizeof fetched, peer, Completion::now);
  *value = fetched;
  return status;
}

template <class T>
RAILSHMEM_HD inline ChannelStatus g(const WorldView& world, T* value, const T* source, Peer peer) {
  const NearPlace origin = near_element(world, source, peer.pe);
  if (origin.near) {
    // volatile: a copy that this SM has cached may be old.
    *value = *reinterpret_cast<const volatile T*>(origin.here);
    return ChannelStatus::ok;
  }
  T fetched{};  // here and not before: a variable whose address a call gets lives in memory
  const ChannelStatus status = g_elsewhere(world, &fetched, source, Peer(peer));
  *value = fetched;
  return status;
}

}  // namespace device
}  // namespace railshmem

#endif

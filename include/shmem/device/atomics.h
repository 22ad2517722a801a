// SPDX-License-Identifier: BSD-3-Clause
// Atomic memory operations on 4- and 8-byte integers.
#ifndef SHMEM_DEVICE_ATOMICS_H
#define SHMEM_DEVICE_ATOMICS_H

#include <stdint.h>

#include <type_traits>

#include "shmem/device/reply.h"

namespace railshmem {
namespace device {

/// Executes the operation on mapped memory, at system scope; returns the old value. Relaxed: AMOs order nothing.
/// In a kernel the mapped memory is GPU memory: behind PCIe a GPU's operations on host memory are not atomic to CPUs.
template <class T>
RAILSHMEM_HD inline T apply_amo(T* at, AmoOp op, T operand, T compare) {
  static_assert(std::is_same<T, uint32_t>::value || std::is_same<T, uint64_t>::value, "bits of an AMO type");
#if defined(__CUDA_ARCH__)
  using U = typename std::conditional<sizeof(T) == 4, unsigned int, unsigned long long>::type;
  // A generic address, not a global one: of an atomic on a global address whose result nobody wants, the compiler makes
  // a RED, and over NVLink REDs pass at a third of the rate.
  T* opaque = at;
  asm volatile("mov.u64 %0, %1;" : "=l"(opaque) : "l"(at));
  U* const u = reinterpret_cast<U*>(opaque);
  switch (op) {
    case AmoOp::fetch:
      return portable::load_relaxed(at);
    case AmoOp::set:
      portable::store_relaxed(at, operand);
      return 0;
    case AmoOp::swap:
      return static_cast<T>(atomicExch_system(u, static_cast<U>(operand)));
    case AmoOp::compare_swap:
      return static_cast<T>(atomicCAS_system(u, static_cast<U>(compare), static_cast<U>(operand)));
    case AmoOp::add:
    case AmoOp::fetch_add:
      return static_cast<T>(atomicAdd_system(u, static_cast<U>(operand)));
    case AmoOp::bit_and:
    case AmoOp::fetch_and:
      return static_cast<T>(atomicAnd_system(u, static_cast<U>(operand)));
    case AmoOp::bit_or:
    case AmoOp::fetch_or:
      return static_cast<T>(atomicOr_system(u, static_cast<U>(operand)));
    case AmoOp::bit_xor:
    case AmoOp::fetch_xor:
      return static_cast<T>(atomicXor_system(u, static_cast<U>(operand)));
  }
  return 0;
#else
  // acq_rel although AMOs order nothing by the standard: a signal's release must not depend on a fence that
  // ThreadSanitizer cannot see, and it costs nothing on x86.
  switch (op) {
    case AmoOp::fetch:
      return __atomic_load_n(at, __ATOMIC_ACQUIRE);
    case AmoOp::set:
    case AmoOp::swap:
      return __atomic_exchange_n(at, operand, __ATOMIC_ACQ_REL);
    case AmoOp::compare_swap:
      __atomic_compare_exchange_n(at, &compare, operand, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
      return compare;
    case AmoOp::add:
    case AmoOp::fetch_add:
      return __atomic_fetch_add(at, operand, __ATOMIC_ACQ_REL);
    case AmoOp::bit_and:
    case AmoOp::fetch_and:
      return __atomic_fetch_and(at, operand, __ATOMIC_ACQ_REL);
    case AmoOp::bit_or:
    case AmoOp::fetch_or:
      return __atomic_fetch_or(at, operand, __ATOMIC_ACQ_REL);
    case AmoOp::bit_xor:
    case AmoOp::fetch_xor:
      return __atomic_fetch_xor(at, operand, __ATOMIC_ACQ_REL);
  }
  return 0;
#endif
}

/// Whether the operation is an instruction of this GPU. Reading alone disturbs nobody.
RAILSHMEM_HD inline bool is_direct(const HeapPlace& place, AmoOp op, Peer peer) {
  if (place.here == nullptr) return false;
  return peer.direct_atomics || op == AmoOp::fetch || has_direct_atomics(place);
}

/// Whether the word is of another node and was declared to be updated by GPUs there: from here it may only be set.
RAILSHMEM_HD inline bool is_promised(const HeapPlace& place, Peer peer) {
  return place.here == nullptr &&
         (peer.direct_atomics || place.offset - place.heap->atomics_offset < place.heap->atomics_nbytes);
}

enum class Fetch : uint8_t { nothing, later, now };

/// The owner's proxy executes the operation; `fetch` is where the old value goes.
template <class T>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus amo_far(const WorldView& world, const HeapPlace& place,
                                                                AmoOp op, T operand, T compare,
                                                                RAILSHMEM_STRUCT(Peer) peer, T* fetch, Fetch when) {
  const ChannelStatus refused = refusal(world, place, peer.pe);
  if (refused != ChannelStatus::ok) return refused;
  if (op != AmoOp::fetch && op != AmoOp::set && is_promised(place, peer)) return ChannelStatus::promised;
  Command c = command_to(world, CommandOp::amo, place, sizeof(T), peer);
  c.amo_op = op;
  c.value = operand;
  c.compare = compare;
  if (when == Fetch::nothing) return issue(world, c, Payload::released);
  if (when == Fetch::now || !portable::is_global(fetch)) {
    return issue_and_fetch(world, c, fetch, sizeof(T), Payload::released);
  }
  c.local = address_of(fetch);
  return issue(world, c, Payload::released);
}

template <class T>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus amo_elsewhere(const WorldView& world, T* dest, AmoOp op,
                                                                      T operand, T compare, RAILSHMEM_STRUCT(Peer) peer,
                                                                      T* fetch, Fetch when) {
  const HeapPlace place = reach(world, dest, peer.pe);
  if (world.check != 0) {
    const ChannelStatus wrong = check_range(world, place, sizeof(T), peer.pe);
    if (wrong != ChannelStatus::ok) return wrong;
  }
  if (is_direct(place, op, peer)) {
    const T old = apply_amo(reinterpret_cast<T*>(place.here), op, operand, compare);
    if (when != Fetch::nothing) *fetch = old;
    return ChannelStatus::ok;
  }
  return amo_far(world, place, op, operand, compare, peer, fetch, when);
}

template <class T>
RAILSHMEM_HD inline NearPlace amo_place(const WorldView& world, const T* dest, AmoOp op, Peer peer) {
  return near_word(world, dest, sizeof(T), peer.pe, peer.direct_atomics || op == AmoOp::fetch);
}

/// nothing: nobody wants the old value. later: the old value is in `*fetch` after quiet.
template <class T>
RAILSHMEM_HD inline ChannelStatus amo(const WorldView& world, T* dest, AmoOp op, T operand, T compare, Peer peer,
                                      T* fetch = nullptr, Fetch when = Fetch::nothing) {
  const NearPlace word = amo_place(world, dest, op, peer);
  if (!word.near) return amo_elsewhere(world, dest, op, operand, compare, Peer(peer), fetch, when);
  const T old = apply_amo(reinterpret_cast<T*>(word.here), op, operand, compare);
  if (when != Fetch::nothing) *fetch = old;
  return ChannelStatus::ok;
}

/// Returns with the old value in `*fetch`.
template <class T>
RAILSHMEM_HD inline ChannelStatus amo_fetch(const WorldView& world, T* fetch, T* dest, AmoOp op, T operand, T compare,
                                            Peer peer) {
  const NearPlace word = amo_place(world, dest, op, peer);
  if (word.near) {
    *fetch = apply_amo(reinterpret_cast<T*>(word.here), op, operand, compare);
    return ChannelStatus::ok;
  }
  T old{0};  // here and not before: a variable whose address a call gets lives in memory
  const ChannelStatus status = amo_elsewhere(world, dest, op, operand, compare, Peer(peer), &old, Fetch::now);
  *fetch = old;
  return status;
}

}  // namespace device
}  // namespace railshmem

#endif

// SPDX-License-Identifier: BSD-3-Clause
// Atomic memory operations on 4- and 8-byte integers.
#ifndef SHMEM_DEVICE_ATOMICS_H
#define SHMEM_DEVICE_ATOMICS_H

#include <stdint.h>

#include <type_traits>

#include "shmem/device/issue.h"

namespace railshmem {
namespace device {

/// Executes the operation on mapped memory, at system scope; returns the old value. Relaxed: AMOs order nothing.
/// In a kernel that is GPU memory: behind PCIe a GPU's operations on host memory are not atomic to CPUs.
template <class T>
RAILSHMEM_HD inline T apply_amo(T* at, AmoOp op, T operand, T compare) {
  static_assert(std::is_same<T, uint32_t>::value || std::is_same<T, uint64_t>::value, "bits of an AMO type");
#if defined(__CUDA_ARCH__)
  using U = typename std::conditional<sizeof(T) == 4, unsigned int, unsigned long long>::type;
  U* const u = reinterpret_cast<U*>(at);
  switch (op) {
    case AmoOp::fetch:
      return static_cast<T>(atomicOr_system(u, U{0}));
    case AmoOp::set:
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

/// The operation's command; `fetch` is where the proxy puts the old value, null for none.
template <class T>
RAILSHMEM_HD inline Command amo_command(const WorldView& world, T* dest, AmoOp op, T operand, T compare, int pe,
                                        T* fetch) {
  Command c = command_to(world, CommandOp::amo, dest, sizeof(T), pe);
  c.amo_op = op;
  c.value = operand;
  c.compare = compare;
  c.local = address_of(fetch);
  return c;
}

/// An operation whose old value nobody wants.
template <class T>
RAILSHMEM_HD inline ChannelStatus amo(const WorldView& world, T* dest, AmoOp op, T operand, int pe) {
  if (unsigned char* const peer = peer_heap(world, pe)) {
    apply_amo(reinterpret_cast<T*>(peer + heap_offset(world, dest)), op, operand, T{0});
    return ChannelStatus::ok;
  }
  const Command c = amo_command<T>(world, dest, op, operand, T{0}, pe, nullptr);
  return issue(world, c, Payload::released);
}

/// The old value is in `*fetch` after quiet; the proxy must be able to write it (symmetric or registered memory).
template <class T>
RAILSHMEM_HD inline ChannelStatus amo_fetch_nbi(const WorldView& world, T* fetch, T* dest, AmoOp op, T operand,
                                                T compare, int pe) {
  if (unsigned char* const peer = peer_heap(world, pe)) {
    *fetch = apply_amo(reinterpret_cast<T*>(peer + heap_offset(world, dest)), op, operand, compare);
    return ChannelStatus::ok;
  }
  const Command c = amo_command(world, dest, op, operand, compare, pe, fetch);
  return issue(world, c, Payload::released);
}

/// Returns with the old value in `*fetch`.
template <class T>
RAILSHMEM_HD inline ChannelStatus amo_fetch(const WorldView& world, T* fetch, T* dest, AmoOp op, T operand, T compare,
                                            int pe) {
  if (peer_heap(world, pe) != nullptr) return amo_fetch_nbi(world, fetch, dest, op, operand, compare, pe);
  const Command c = amo_command(world, dest, op, operand, compare, pe, fetch);
  return issue_and_wait(world, c, Payload::released);
}

}  // namespace device
}  // namespace railshmem

#endif

// SPDX-License-Identifier: BSD-3-Clause
// Atomics of shmem/atomic.h in a kernel.
#ifndef SHMEM_DEVICE_CALLS_ATOMIC_H
#define SHMEM_DEVICE_CALLS_ATOMIC_H

#include "shmem/device/calls/define.h"

#if defined(RAILSHMEM_KERNEL_NAMES)

#include "shmem/device/atomics.h"

namespace railshmem {
namespace device {

/// Atomics on values of T, as operations on their bits.
template <class T>
struct Atomics {
  using Bits = typename std::conditional<sizeof(T) == 4, uint32_t, uint64_t>::type;

  RAILSHMEM_KERNEL static Bits bits(T value) {
    Bits b;
    __builtin_memcpy(&b, &value, sizeof b);
    return b;
  }
  RAILSHMEM_KERNEL static T value(Bits bits) {
    T v;
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
  }
  RAILSHMEM_KERNEL static Bits* word(const T* at) { return reinterpret_cast<Bits*>(const_cast<T*>(at)); }

  template <AmoOp kOp>
  RAILSHMEM_KERNEL static void update(shmem_ctx_t ctx, const T* dest, T operand, int pe) {
    const WorldView& world = this_world();
    const ChannelStatus status = amo(world, word(dest), kOp, bits(operand), Bits{0}, peer_of(world, ctx, pe));
    finish(world, DeviceCall::atomic, status, pe, dest);
  }
  template <AmoOp kOp>
  RAILSHMEM_KERNEL static T fetch(shmem_ctx_t ctx, const T* dest, T operand, int pe, T cond = T(0)) {
    const WorldView& world = this_world();
    Bits old = 0;
    const ChannelStatus status =
        amo_fetch(world, &old, word(dest), kOp, bits(operand), bits(cond), peer_of(world, ctx, pe));
    finish(world, DeviceCall::atomic_fetch, status, pe, dest);
    return value(old);
  }
  template <AmoOp kOp>
  RAILSHMEM_KERNEL static void fetch_nbi(shmem_ctx_t ctx, T* fetched, const T* dest, T operand, int pe, T cond = T(0)) {
    const WorldView& world = this_world();
    const ChannelStatus status =
        amo(world, word(dest), kOp, bits(operand), bits(cond), peer_of(world, ctx, pe), word(fetched), Fetch::later);
    finish(world, DeviceCall::atomic_fetch_nbi, status, pe, dest);
  }

  RAILSHMEM_KERNEL static void inc(shmem_ctx_t ctx, T* dest, int pe) { update<AmoOp::add>(ctx, dest, T(1), pe); }
  RAILSHMEM_KERNEL static T fetch_inc(shmem_ctx_t ctx, T* dest, int pe) {
    return fetch<AmoOp::fetch_add>(ctx, dest, T(1), pe);
  }
  RAILSHMEM_KERNEL static void fetch_inc_nbi(shmem_ctx_t ctx, T* fetched, T* dest, int pe) {
    fetch_nbi<AmoOp::fetch_add>(ctx, fetched, dest, T(1), pe);
  }
  RAILSHMEM_KERNEL static T read(shmem_ctx_t ctx, const T* source, int pe) {
    return fetch<AmoOp::fetch>(ctx, source, T(0), pe);
  }
  RAILSHMEM_KERNEL static void read_nbi(shmem_ctx_t ctx, T* fetched, const T* source, int pe) {
    fetch_nbi<AmoOp::fetch>(ctx, fetched, source, T(0), pe);
  }
  RAILSHMEM_KERNEL static T compare_swap(shmem_ctx_t ctx, T* dest, T cond, T operand, int pe) {
    return fetch<AmoOp::compare_swap>(ctx, dest, operand, pe, cond);
  }
  RAILSHMEM_KERNEL static void compare_swap_nbi(shmem_ctx_t ctx, T* fetched, T* dest, T cond, T operand, int pe) {
    fetch_nbi<AmoOp::compare_swap>(ctx, fetched, dest, operand, pe, cond);
  }
};

}  // namespace device
}  // namespace railshmem

#endif

#endif

// SPDX-License-Identifier: BSD-3-Clause
// shmem/atomic.h for kernels.
#ifndef SHMEM_DEVICE_NAMES_ATOMIC_H
#define SHMEM_DEVICE_NAMES_ATOMIC_H

#include "shmem/device/names/define.h"

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
    const ChannelStatus status = amo(world, word(dest), kOp, bits(operand), peer_of(world, ctx, pe));
    finish(world, DeviceCall::atomic, status, pe, dest);
  }
  template <AmoOp kOp>
  RAILSHMEM_KERNEL static T fetch(shmem_ctx_t ctx, const T* dest, T operand, T cond, int pe) {
    const WorldView& world = this_world();
    Bits old = 0;
    const ChannelStatus status =
        amo_fetch(world, &old, word(dest), kOp, bits(operand), bits(cond), peer_of(world, ctx, pe));
    finish(world, DeviceCall::atomic_fetch, status, pe, dest);
    return value(old);
  }
  template <AmoOp kOp>
  RAILSHMEM_KERNEL static void fetch_nbi(shmem_ctx_t ctx, T* fetched, const T* dest, T operand, T cond, int pe) {
    const WorldView& world = this_world();
    const ChannelStatus status =
        amo_fetch_nbi(world, word(fetched), word(dest), kOp, bits(operand), bits(cond), peer_of(world, ctx, pe));
    finish(world, DeviceCall::atomic_fetch_nbi, status, pe, dest);
  }

  RAILSHMEM_KERNEL static void inc(shmem_ctx_t ctx, T* dest, int pe) { update<AmoOp::add>(ctx, dest, T(1), pe); }
  RAILSHMEM_KERNEL static T fetch_inc(shmem_ctx_t ctx, T* dest, int pe) {
    return fetch<AmoOp::fetch_add>(ctx, dest, T(1), T(0), pe);
  }
  RAILSHMEM_KERNEL static void fetch_inc_nbi(shmem_ctx_t ctx, T* fetched, T* dest, int pe) {
    fetch_nbi<AmoOp::fetch_add>(ctx, fetched, dest, T(1), T(0), pe);
  }
  RAILSHMEM_KERNEL static T read(shmem_ctx_t ctx, const T* source, int pe) {
    return fetch<AmoOp::fetch>(ctx, source, T(0), T(0), pe);
  }
  RAILSHMEM_KERNEL static void read_nbi(shmem_ctx_t ctx, T* fetched, const T* source, int pe) {
    fetch_nbi<AmoOp::fetch>(ctx, fetched, source, T(0), T(0), pe);
  }
  RAILSHMEM_KERNEL static T compare_swap(shmem_ctx_t ctx, T* dest, T cond, T operand, int pe) {
    return fetch<AmoOp::compare_swap>(ctx, dest, operand, cond, pe);
  }
  RAILSHMEM_KERNEL static void compare_swap_nbi(shmem_ctx_t ctx, T* fetched, T* dest, T cond, T operand, int pe) {
    fetch_nbi<AmoOp::compare_swap>(ctx, fetched, dest, operand, cond, pe);
  }
  template <AmoOp kOp>
  RAILSHMEM_KERNEL static T fetch_with(shmem_ctx_t ctx, T* dest, T operand, int pe) {
    return fetch<kOp>(ctx, dest, operand, T(0), pe);
  }
  template <AmoOp kOp>
  RAILSHMEM_KERNEL static void fetch_with_nbi(shmem_ctx_t ctx, T* fetched, T* dest, T operand, int pe) {
    fetch_nbi<kOp>(ctx, fetched, dest, operand, T(0), pe);
  }
};

}  // namespace device
}  // namespace railshmem

// clang-format off
#define RAILSHMEM_ATOMICS(T) railshmem::device::Atomics<T>
#define RAILSHMEM_KERNEL_UPDATE(NAME, T, OP)                                                                           \
  RAILSHMEM_BOTH_CTX(void, NAME, (T* dest, T value, int pe), (dest, value, pe),                                        \
      RAILSHMEM_ATOMICS(T)::template update<railshmem::AmoOp::OP>)
#define RAILSHMEM_KERNEL_FETCH_WITH(NAME, T, OP)                                                                       \
  RAILSHMEM_BOTH_CTX(T, NAME, (T* dest, T value, int pe), (dest, value, pe),                                           \
      RAILSHMEM_ATOMICS(T)::template fetch_with<railshmem::AmoOp::OP>)                                                 \
  RAILSHMEM_BOTH_CTX(void, NAME##_nbi, (T* fetch, T* dest, T value, int pe), (fetch, dest, value, pe),                 \
      RAILSHMEM_ATOMICS(T)::template fetch_with_nbi<railshmem::AmoOp::OP>)

#define RAILSHMEM_KERNEL_AMO_STANDARD(A, N, T)                                                                         \
  RAILSHMEM_BOTH_CTX(T, N##_atomic_compare_swap, (T* dest, T cond, T value, int pe), (dest, cond, value, pe),          \
      RAILSHMEM_ATOMICS(T)::compare_swap)                                                                              \
  RAILSHMEM_BOTH_CTX(void, N##_atomic_compare_swap_nbi, (T* fetch, T* dest, T cond, T value, int pe),                  \
      (fetch, dest, cond, value, pe), RAILSHMEM_ATOMICS(T)::compare_swap_nbi)                                          \
  RAILSHMEM_BOTH_CTX(T, N##_atomic_fetch_inc, (T* dest, int pe), (dest, pe), RAILSHMEM_ATOMICS(T)::fetch_inc)          \
  RAILSHMEM_BOTH_CTX(void, N##_atomic_fetch_inc_nbi, (T* fetch, T* dest, int pe), (fetch, dest, pe),                   \
      RAILSHMEM_ATOMICS(T)::fetch_inc_nbi)                                                                             \
  RAILSHMEM_BOTH_CTX(void, N##_atomic_inc, (T* dest, int pe), (dest, pe), RAILSHMEM_ATOMICS(T)::inc)                   \
  RAILSHMEM_KERNEL_FETCH_WITH(N##_atomic_fetch_add, T, fetch_add)                                                      \
  RAILSHMEM_KERNEL_UPDATE(N##_atomic_add, T, add)
#define RAILSHMEM_KERNEL_AMO_EXTENDED(A, N, T)                                                                         \
  RAILSHMEM_BOTH_CTX(T, N##_atomic_fetch, (const T* source, int pe), (source, pe), RAILSHMEM_ATOMICS(T)::read)         \
  RAILSHMEM_BOTH_CTX(void, N##_atomic_fetch_nbi, (T* fetch, const T* source, int pe), (fetch, source, pe),             \
      RAILSHMEM_ATOMICS(T)::read_nbi)                                                                                  \
  RAILSHMEM_KERNEL_UPDATE(N##_atomic_set, T, set)                                                                      \
  RAILSHMEM_KERNEL_FETCH_WITH(N##_atomic_swap, T, swap)
#define RAILSHMEM_KERNEL_AMO_BITWISE(A, N, T)                                                                          \
  RAILSHMEM_KERNEL_FETCH_WITH(N##_atomic_fetch_and, T, fetch_and)                                                      \
  RAILSHMEM_KERNEL_UPDATE(N##_atomic_and, T, bit_and)                                                                  \
  RAILSHMEM_KERNEL_FETCH_WITH(N##_atomic_fetch_or, T, fetch_or)                                                        \
  RAILSHMEM_KERNEL_UPDATE(N##_atomic_or, T, bit_or)                                                                    \
  RAILSHMEM_KERNEL_FETCH_WITH(N##_atomic_fetch_xor, T, fetch_xor)                                                      \
  RAILSHMEM_KERNEL_UPDATE(N##_atomic_xor, T, bit_xor)
// clang-format on

RAILSHMEM_AMO_TYPES(RAILSHMEM_KERNEL_AMO_STANDARD, )
RAILSHMEM_AMO_EXTENDED_TYPES(RAILSHMEM_KERNEL_AMO_EXTENDED, )
RAILSHMEM_AMO_BITWISE_TYPES(RAILSHMEM_KERNEL_AMO_BITWISE, )

#endif

#endif

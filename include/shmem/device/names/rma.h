// SPDX-License-Identifier: BSD-3-Clause
// shmem/rma.h for kernels: put, get, p, g and the strided ones.
#ifndef SHMEM_DEVICE_NAMES_RMA_H
#define SHMEM_DEVICE_NAMES_RMA_H

#include "shmem/device/names/define.h"

#if defined(RAILSHMEM_KERNEL_NAMES)

#include "shmem/device/strided.h"

namespace railshmem {
namespace device {

/// Calls that move elements of kBytes.
template <size_t kBytes, class Scope = ThreadScope>
struct Mover {
  RAILSHMEM_KERNEL static void put(shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe) {
    const WorldView& world = this_world();
    const Peer peer = peer_of(world, ctx, pe);
    finish(world, DeviceCall::put, putmem<Scope>(world, dest, source, nelems * kBytes, peer), pe, dest);
  }
  RAILSHMEM_KERNEL static void put_nbi(shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe) {
    const WorldView& world = this_world();
    const Peer peer = peer_of(world, ctx, pe);
    finish(world, DeviceCall::put_nbi, putmem_nbi<Scope>(world, dest, source, nelems * kBytes, peer), pe, dest);
  }
  RAILSHMEM_KERNEL static void get(shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe) {
    const WorldView& world = this_world();
    const Peer peer = peer_of(world, ctx, pe);
    finish(world, DeviceCall::get, getmem<Scope>(world, dest, source, nelems * kBytes, peer), pe, source);
  }
  RAILSHMEM_KERNEL static void get_nbi(shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe) {
    const WorldView& world = this_world();
    const Peer peer = peer_of(world, ctx, pe);
    finish(world, DeviceCall::get_nbi, getmem_nbi<Scope>(world, dest, source, nelems * kBytes, peer), pe, source);
  }
  RAILSHMEM_KERNEL static void iput(shmem_ctx_t ctx, void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,
                                    size_t nelems, int pe) {
    const WorldView& world = this_world();
    const ChannelStatus status =
        ibput<Scope>(world, dest, source, spacing(dst, sst, 1, nelems), peer_of(world, ctx, pe));
    finish(world, DeviceCall::iput, status, pe, dest);
  }
  RAILSHMEM_KERNEL static void iget(shmem_ctx_t ctx, void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,
                                    size_t nelems, int pe) {
    const WorldView& world = this_world();
    const ChannelStatus status =
        ibget<Scope>(world, dest, source, spacing(dst, sst, 1, nelems), peer_of(world, ctx, pe));
    finish(world, DeviceCall::iget, status, pe, source);
  }
  RAILSHMEM_KERNEL static void put_blocks(shmem_ctx_t ctx, void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,
                                          size_t bsize, size_t nblocks, int pe) {
    const WorldView& world = this_world();
    const ChannelStatus status =
        ibput<Scope>(world, dest, source, spacing(dst, sst, bsize, nblocks), peer_of(world, ctx, pe));
    finish(world, DeviceCall::ibput, status, pe, dest);
  }
  RAILSHMEM_KERNEL static void get_blocks(shmem_ctx_t ctx, void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,
                                          size_t bsize, size_t nblocks, int pe) {
    const WorldView& world = this_world();
    const ChannelStatus status =
        ibget<Scope>(world, dest, source, spacing(dst, sst, bsize, nblocks), peer_of(world, ctx, pe));
    finish(world, DeviceCall::ibget, status, pe, source);
  }

 private:
  RAILSHMEM_KERNEL static Spacing spacing(ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks) {
    constexpr auto kElement = static_cast<int64_t>(kBytes);
    return {nblocks, bsize * kBytes, dst * kElement, sst * kElement};
  }
};

template <class T>
RAILSHMEM_KERNEL inline void put_value(shmem_ctx_t ctx, T* dest, T value, int pe) {
  const WorldView& world = this_world();
  const Peer peer = peer_of(world, ctx, pe);
  const NearPlace target = near_element(world, dest, peer.pe);
  if (target.near) {
    *reinterpret_cast<volatile T*>(target.here) = value;
    return;  // cannot fail, and nothing is looked at: in a loop of stores each instruction counts
  }
  finish(world, DeviceCall::p, p_elsewhere(world, dest, bits_of(value), sizeof(T), peer), pe, dest);
}
template <class T>
RAILSHMEM_KERNEL inline T get_value(shmem_ctx_t ctx, const T* source, int pe) {
  const WorldView& world = this_world();
  T value{};
  finish(world, DeviceCall::g, g(world, &value, source, peer_of(world, ctx, pe)), pe, source);
  return value;
}
// A kernel has no value of this type; blocks of them in memory it can move.
RAILSHMEM_KERNEL inline void put_value(shmem_ctx_t, long double* dest, long double, int pe) {
  finish(this_world(), DeviceCall::p, ChannelStatus::unsupported, pe, dest);
}
RAILSHMEM_KERNEL inline long double get_value(shmem_ctx_t, const long double* source, int pe) {
  finish(this_world(), DeviceCall::g, ChannelStatus::unsupported, pe, source);
  return 0;
}

}  // namespace device
}  // namespace railshmem

// clang-format off

/// T: type of the elements, or void; MOVER: who moves them.
#define RAILSHMEM_KERNEL_BLOCK(PUT, GET, T, MOVER)                                                                     \
  RAILSHMEM_BOTH_CTX(void, PUT, (T* dest, const T* source, size_t nelems, int pe), (dest, source, nelems, pe),         \
      MOVER::put)                                                                                                      \
  RAILSHMEM_BOTH_CTX(void, PUT##_nbi, (T* dest, const T* source, size_t nelems, int pe), (dest, source, nelems, pe),   \
      MOVER::put_nbi)                                                                                                  \
  RAILSHMEM_BOTH_CTX(void, GET, (T* dest, const T* source, size_t nelems, int pe), (dest, source, nelems, pe),         \
      MOVER::get)                                                                                                      \
  RAILSHMEM_BOTH_CTX(void, GET##_nbi, (T* dest, const T* source, size_t nelems, int pe), (dest, source, nelems, pe),   \
      MOVER::get_nbi)
#define RAILSHMEM_KERNEL_STRIDED(NAME, T, CALL)                                                                        \
  RAILSHMEM_BOTH_CTX(void, NAME, (T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe),      \
      (dest, source, dst, sst, nelems, pe), CALL)
#define RAILSHMEM_KERNEL_BLOCK_STRIDED(NAME, T, CALL)                                                                  \
  RAILSHMEM_BOTH_CTX(void, NAME, (T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,                \
      size_t nblocks, int pe), (dest, source, dst, sst, bsize, nblocks, pe), CALL)

#define RAILSHMEM_MOVER(N) railshmem::device::Mover<railshmem::device::bytes_of_##N>
#define RAILSHMEM_KERNEL_RMA_TYPED(A, N, T)                                                                            \
  RAILSHMEM_KERNEL_BLOCK(N##_put, N##_get, T, RAILSHMEM_MOVER(N))                                                      \
  RAILSHMEM_BOTH_CTX(void, N##_p, (T* dest, T value, int pe), (dest, value, pe), railshmem::device::put_value)         \
  RAILSHMEM_BOTH_CTX(T, N##_g, (const T* source, int pe), (source, pe), railshmem::device::get_value)                  \
  RAILSHMEM_KERNEL_STRIDED(N##_iput, T, RAILSHMEM_MOVER(N)::iput)                                                      \
  RAILSHMEM_KERNEL_STRIDED(N##_iget, T, RAILSHMEM_MOVER(N)::iget)                                                      \
  RAILSHMEM_KERNEL_BLOCK_STRIDED(N##_ibput, T, RAILSHMEM_MOVER(N)::put_blocks)                                         \
  RAILSHMEM_KERNEL_BLOCK_STRIDED(N##_ibget, T, RAILSHMEM_MOVER(N)::get_blocks)
#define RAILSHMEM_KERNEL_RMA_SIZED(A, BITS)                                                                            \
  RAILSHMEM_KERNEL_BLOCK(put##BITS, get##BITS, void, railshmem::device::Mover<BITS / 8>)                               \
  RAILSHMEM_KERNEL_STRIDED(iput##BITS, void, railshmem::device::Mover<BITS / 8>::iput)                                 \
  RAILSHMEM_KERNEL_STRIDED(iget##BITS, void, railshmem::device::Mover<BITS / 8>::iget)                                 \
  RAILSHMEM_KERNEL_BLOCK_STRIDED(ibput##BITS, void, railshmem::device::Mover<BITS / 8>::put_blocks)                    \
  RAILSHMEM_KERNEL_BLOCK_STRIDED(ibget##BITS, void, railshmem::device::Mover<BITS / 8>::get_blocks)

// clang-format on

RAILSHMEM_RMA_TYPES(RAILSHMEM_KERNEL_RMA_TYPED, )
RAILSHMEM_SIZES(RAILSHMEM_KERNEL_RMA_SIZED, )
RAILSHMEM_KERNEL_BLOCK(putmem, getmem, void, railshmem::device::Mover<1>)

#endif

#endif

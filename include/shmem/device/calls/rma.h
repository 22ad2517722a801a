// SPDX-License-Identifier: BSD-3-Clause
// put, get, p, g and the strided ones of shmem/rma.h in a kernel.
#ifndef SHMEM_DEVICE_CALLS_RMA_H
#define SHMEM_DEVICE_CALLS_RMA_H

#include "shmem/device/calls/define.h"

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
    const ChannelStatus status = putmem<Scope>(world, dest, source, nelems * kBytes, peer, Completion::now);
    finish(world, DeviceCall::put, status, pe, dest);
  }
  RAILSHMEM_KERNEL static void put_nbi(shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe) {
    const WorldView& world = this_world();
    const Peer peer = peer_of(world, ctx, pe);
    const ChannelStatus status = putmem<Scope>(world, dest, source, nelems * kBytes, peer, Completion::later);
    finish(world, DeviceCall::put_nbi, status, pe, dest);
  }
  RAILSHMEM_KERNEL static void get(shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe) {
    const WorldView& world = this_world();
    const Peer peer = peer_of(world, ctx, pe);
    const ChannelStatus status = getmem<Scope>(world, dest, source, nelems * kBytes, peer, Completion::now);
    finish(world, DeviceCall::get, status, pe, source);
  }
  RAILSHMEM_KERNEL static void get_nbi(shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe) {
    const WorldView& world = this_world();
    const Peer peer = peer_of(world, ctx, pe);
    const ChannelStatus status = getmem<Scope>(world, dest, source, nelems * kBytes, peer, Completion::later);
    finish(world, DeviceCall::get_nbi, status, pe, source);
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
  finish(world, DeviceCall::p, p_elsewhere(world, dest, bits_of(value), sizeof(T), Peer(peer)), pe, dest);
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

#endif

#endif

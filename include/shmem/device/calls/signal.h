// SPDX-License-Identifier: BSD-3-Clause
// Puts with a signal, and signals alone, in a kernel.
#ifndef SHMEM_DEVICE_CALLS_SIGNAL_H
#define SHMEM_DEVICE_CALLS_SIGNAL_H

#include "shmem/device/calls/define.h"

#if defined(RAILSHMEM_KERNEL_NAMES)

#include "shmem/device/signal.h"
#include "shmem/device/wait_until.h"

namespace railshmem {
namespace device {

RAILSHMEM_KERNEL inline SignalOp signal_op_of(int sig_op) {
  return sig_op == SHMEM_SIGNAL_ADD ? SignalOp::add : SignalOp::set;
}

/// Puts of elements of kBytes, with a signal.
template <size_t kBytes, class Scope = ThreadScope>
struct Signaller {
  RAILSHMEM_KERNEL static void put_signal(shmem_ctx_t ctx, void* dest, const void* source, size_t nelems,
                                          uint64_t* sig_addr, uint64_t signal, int sig_op, int pe) {
    const WorldView& world = this_world();
    const ChannelStatus status = putmem_signal<Scope>(world, dest, source, nelems * kBytes, sig_addr, signal,
                                                      signal_op_of(sig_op), peer_of(world, ctx, pe), Completion::now);
    finish(world, DeviceCall::put_signal, status, pe, dest);
  }
  RAILSHMEM_KERNEL static void put_signal_nbi(shmem_ctx_t ctx, void* dest, const void* source, size_t nelems,
                                              uint64_t* sig_addr, uint64_t signal, int sig_op, int pe) {
    const WorldView& world = this_world();
    const ChannelStatus status = putmem_signal<Scope>(world, dest, source, nelems * kBytes, sig_addr, signal,
                                                      signal_op_of(sig_op), peer_of(world, ctx, pe), Completion::later);
    finish(world, DeviceCall::put_signal_nbi, status, pe, dest);
  }
};

RAILSHMEM_KERNEL inline void set_signal(shmem_ctx_t ctx, uint64_t* sig_addr, uint64_t signal, int pe) {
  const WorldView& world = this_world();
  const ChannelStatus status = signal_update(world, sig_addr, signal, SignalOp::set, peer_of(world, ctx, pe));
  finish(world, DeviceCall::signal_set, status, pe, sig_addr);
}

RAILSHMEM_KERNEL inline void add_signal(shmem_ctx_t ctx, uint64_t* sig_addr, uint64_t signal, int pe) {
  const WorldView& world = this_world();
  const ChannelStatus status = signal_update(world, sig_addr, signal, SignalOp::add, peer_of(world, ctx, pe));
  finish(world, DeviceCall::signal_add, status, pe, sig_addr);
}

/// The value that ended the wait, or the last one that was seen.
RAILSHMEM_KERNEL inline uint64_t wait_for_signal(const uint64_t* sig_addr, int cmp, uint64_t cmp_value) {
  const WorldView& world = this_world();
  if (world.npes == 0) return read_acquire(sig_addr);
  uint64_t seen;
  finish(world, DeviceCall::signal_wait_until, wait_until(world, sig_addr, cmp, cmp_value, &seen), world.pe, sig_addr);
  return seen;
}

}  // namespace device
}  // namespace railshmem

#endif

#endif

// SPDX-License-Identifier: BSD-3-Clause
// Signals: alone, or after the data of their put.
#ifndef SHMEM_DEVICE_SIGNAL_H
#define SHMEM_DEVICE_SIGNAL_H

#include <stdint.h>

#include "shmem/device/atomics.h"
#include "shmem/device/rma.h"

namespace railshmem {
namespace device {

/// Updates the signal of a mapped peer, after everything this thread wrote before.
RAILSHMEM_HD inline void update_signal(uint64_t* at, uint64_t value, SignalOp op) {
  portable::release_fence();
  apply_amo<uint64_t>(at, op == SignalOp::add ? AmoOp::add : AmoOp::set, value, 0);
}

/// The target sees the data of this put no later than its signal. nbytes 0: only the signal.
RAILSHMEM_HD inline ChannelStatus putmem_signal_nbi(const WorldView& world, void* dest, const void* source,
                                                    uint64_t nbytes, uint64_t* signal, uint64_t value, SignalOp op,
                                                    int pe, Payload payload = Payload::written) {
  if (unsigned char* const peer = peer_heap(world, pe)) {
    if (nbytes != 0) copy_bytes(peer + heap_offset(world, dest), source, nbytes);
    update_signal(reinterpret_cast<uint64_t*>(peer + heap_offset(world, signal)), value, op);
    return ChannelStatus::ok;
  }
  Command c;
  if (nbytes == 0) {
    c = command_to(world, CommandOp::signal, world.heap, 0, pe);
    payload = Payload::released;
  } else if (nbytes <= kInlineBytes) {
    c = command_to(world, CommandOp::put_inline_signal, dest, nbytes, pe);
    c.value = load_value(source, nbytes);
    payload = Payload::released;
  } else {
    c = command_to(world, CommandOp::put_signal, dest, nbytes, pe);
    c.local = address_of(source);
  }
  c.signal_offset = heap_offset(world, signal);
  c.signal_value = value;
  c.signal_op = op;
  return issue(world, c, payload);
}

RAILSHMEM_HD inline ChannelStatus signal_update(const WorldView& world, uint64_t* signal, uint64_t value, SignalOp op,
                                                int pe) {
  return putmem_signal_nbi(world, signal, nullptr, 0, signal, value, op, pe);
}

}  // namespace device
}  // namespace railshmem

#endif

// SPDX-License-Identifier: BSD-3-Clause
// Puts to members on other nodes.
#pragma once

#include "shmem/device/calls/define.h"
#include "shmem/device/sync.h"

namespace railshmem::moe::kernels {

/// Some bytes for a place in a member's memory, and then the signal. nbytes 0: the signal alone. One thread.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void put_chunk(DeviceCall call, int pe, void* dest, const void* source,
                                                             uint64_t nbytes, uint64_t* signal, uint64_t value) {
  const WorldView& world = device::this_world();
  const ChannelStatus status = device::putmem_signal<device::ThreadScope>(
      world, dest, source, nbytes, signal, value, SignalOp::set, device::Peer(pe), device::Completion::later);
  device::finish(world, call, status, pe, dest);
}

/// Waits until what the calling block has put may be written again. One thread.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void await_puts(DeviceCall call) {
  const WorldView& world = device::this_world();
  device::finish(world, call, device::wait_for_channel(world), -1, nullptr);
}

}  // namespace railshmem::moe::kernels

// SPDX-License-Identifier: BSD-3-Clause
// What every operation shares: which channel a thread uses, how a command starts, how long waits last.
#ifndef SHMEM_DEVICE_ISSUE_H
#define SHMEM_DEVICE_ISSUE_H

#include <stdint.h>

#include "shmem/detail/world.h"
#include "shmem/device/push.h"
#include "shmem/device/wait.h"

namespace railshmem {
namespace device {

/// The channel of the calling thread. A block keeps its channel, whichever SM runs it, so that one thread's commands
/// stay in order; the proxies see blocks spread over all channels.
RAILSHMEM_HD inline const ChannelView& my_channel(const WorldView& world) {
#if defined(__CUDA_ARCH__)
  const uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  return world.channels[block % world.nchannels];
#else
  return world.channels[0];
#endif
}

RAILSHMEM_HD inline Deadline deadline_of(const WorldView& world) {
  return world.timeout_ns == 0 ? Deadline::never() : Deadline::in(world.timeout_ns);
}

/// A command on the symmetric object `symmetric` of `pe`.
RAILSHMEM_HD inline Command command_to(const WorldView& world, CommandOp op, const void* symmetric, uint64_t nbytes,
                                       int pe) {
  Command c;
  c.op = op;
  c.pe = static_cast<uint32_t>(pe);
  c.context = world.context;
  c.remote_offset = heap_offset(world, symmetric);
  c.nbytes = nbytes;
  return c;
}

RAILSHMEM_HD inline uint64_t address_of(const void* local) {
  return reinterpret_cast<uintptr_t>(local);
}

RAILSHMEM_HD inline ChannelStatus issue(const WorldView& world, const Command& command, Payload payload) {
  return push(my_channel(world).ring, command, deadline_of(world), payload).status;
}

/// Waits for this command's own ticket, not for a quiet: what others push meanwhile does not delay it.
RAILSHMEM_HD inline ChannelStatus issue_and_wait(const WorldView& world, const Command& command, Payload payload) {
  const ChannelView& channel = my_channel(world);
  const Deadline deadline = deadline_of(world);
  const Reserved pushed = push(channel.ring, command, deadline, payload);
  return pushed.status == ChannelStatus::ok ? wait_ticket(channel, pushed.ticket, deadline) : pushed.status;
}

/// All operations of this PE's kernels so far are complete: direct ones visible, those of every channel finished.
RAILSHMEM_HD inline ChannelStatus quiet(const WorldView& world) {
  portable::full_fence();
  const Deadline deadline = deadline_of(world);
  for (uint32_t i = 0; i < world.nchannels; ++i) {
    const ChannelStatus status = quiet(world.channels[i], deadline);
    if (status != ChannelStatus::ok) return status;
  }
  return ChannelStatus::ok;
}

/// Orders this thread's operations before it and after it, per target. Waits for nothing but room in the ring.
RAILSHMEM_HD inline ChannelStatus fence(const WorldView& world) {
  portable::release_fence();
  if (world.node_npes == world.npes) return ChannelStatus::ok;
  Command c;
  c.op = CommandOp::fence;
  c.pe = kEveryPe;
  c.context = world.context;
  return issue(world, c, Payload::released);
}

}  // namespace device
}  // namespace railshmem

#endif

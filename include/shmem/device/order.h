// SPDX-License-Identifier: BSD-3-Clause
// Fence and quiet of kernels.
//
// Both are about the operations of the calling thread and of the threads that it synchronised with before (by
// __syncthreads, a grid's barrier, a flag): one thread can complete what a block or a grid issued. A quiet of any
// context completes all contexts of this PE's kernels; host calls have their own.
#ifndef SHMEM_DEVICE_ORDER_H
#define SHMEM_DEVICE_ORDER_H

#include <stdint.h>

#include "shmem/device/issue.h"

namespace railshmem {
namespace device {

/// Waits for the channels in which something may be unfinished. It looks at eight channels at once, because a look into
/// the GPU's memory takes a while, and a look at the proxy's count, across PCIe, ten times as long. It looks at all
/// before it waits for one, so that nothing is left to do when the wait is over.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus wait_for_channels(const WorldView& world) {
  constexpr uint32_t kGlance = 8, kRound = 64;
  RAILSHMEM_NO_UNROLL
  for (uint32_t begin = 0; begin < world.nchannels; begin += kRound) {
    uint64_t unfinished = 0;  // a bit for each channel from `begin` on
    RAILSHMEM_NO_UNROLL
    for (uint32_t first = begin; first < world.nchannels && first < begin + kRound; first += kGlance) {
      uint32_t found = 0;
      RAILSHMEM_UNROLL
      for (uint32_t i = 0; i < kGlance; ++i) {
        const ChannelView& channel = world.channels[first + i < world.nchannels ? first + i : first];
        // relaxed: as in quiet().
        const uint64_t head = portable::load_relaxed(channel.ring.head);
        found |= portable::load_fenced(&channel.completed_seen->count) < head ? 1u << i : 0;
      }
      unfinished |= uint64_t{found} << (first - begin);
    }
    // Pairs with the release in tell() for channels that are finished, as the acquire in wait_completed() does for the
    // others.
    portable::acquire_fence();
    RAILSHMEM_NO_UNROLL
    for (uint32_t i = begin; unfinished != 0 && i < world.nchannels; ++i, unfinished >>= 1) {
      if ((unfinished & 1) == 0) continue;
      const ChannelStatus status = quiet(world.channels[i], deadline_of(world));
      if (status != ChannelStatus::ok) return status;
    }
  }
  return ChannelStatus::ok;
}

/// Waits until the commands of every channel have finished.
RAILSHMEM_HD inline ChannelStatus wait_for_commands(const WorldView& world) {
  return world.nchannels == 0 ? ChannelStatus::ok : wait_for_channels(world);
}

/// Waits until the commands of every channel have finished and direct stores are visible to every PE.
RAILSHMEM_HD inline ChannelStatus quiet(const WorldView& world) {
  // Sequentially consistent: when two PEs put, quiet and read each other's word, at least one sees the other's put.
  portable::full_fence();
  return wait_for_commands(world);
}

/// Orders operations before it ahead of those after it, per target. Waits for nothing but room in the ring.
/// Commands of other threads are ordered only if they went into this thread's channel, as those of one block do.
RAILSHMEM_HD inline ChannelStatus fence(const WorldView& world, int32_t context = -1) {
  portable::release_fence();
  if (world.nchannels == 0) return ChannelStatus::ok;
  // A mapped PE is reached in two ways, stores and (its atomics) commands; a store would overtake the commands.
  if (world.node_npes > 0 && !all_direct(world.heap)) return quiet(my_channel(world), deadline_of(world));
  Command c;
  c.op = CommandOp::fence;
  c.pe = kEveryPe;
  c.context = context < 0 ? world.context : static_cast<uint16_t>(context);
  return issue(world, c, Payload::released);
}

}  // namespace device
}  // namespace railshmem

#endif

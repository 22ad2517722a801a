// SPDX-License-Identifier: BSD-3-Clause
// What every operation shares: its target, which channel a thread uses, how a command starts, how long waits last.
#ifndef SHMEM_DEVICE_ISSUE_H
#define SHMEM_DEVICE_ISSUE_H

#include <stdint.h>

#include "shmem/detail/threads.h"
#include "shmem/detail/world.h"
#include "shmem/device/push.h"
#include "shmem/device/wait.h"

namespace railshmem {
namespace device {

/// Whom an operation is for, and on which context: a plain number is a PE of the world on the default context.
struct Peer {
  int pe;
  int32_t context = -1;  ///< number for commands; -1: the default context's
  bool direct_atomics = false;
  bool published = false;  ///< a system-scope release covers the caller's memory already (SHMEMX_CTX_PUBLISHED)

  RAILSHMEM_HD Peer(int world_pe) : pe(world_pe) {}
};

/// The channel of a block. A block keeps its channel whichever SM runs it, so that one thread's commands stay in order.
/// Blocks are spread over all channels, and so over all proxies.
RAILSHMEM_HD inline const ChannelView& channel_of(const WorldView& world, uint32_t block) {
  return world
      .channels[block < world.nchannels ? block : block % world.nchannels];  // a division takes as long as a load
}
/// The channel of the calling thread's block.
RAILSHMEM_HD inline const ChannelView& my_channel(const WorldView& world) {
  return channel_of(world, threads::block_in_grid());
}

RAILSHMEM_HD inline Deadline deadline_of(const WorldView& world) {
  return {world.timeout_ns};
}

/// Why the network cannot be asked for something at `place` of `pe`; ok when it can. Checks here what the direct way
/// takes for granted: beside a command the checks cost nothing.
RAILSHMEM_HD inline ChannelStatus refusal(const WorldView& world, const HeapPlace& place, int pe) {
  if (static_cast<uint32_t>(pe) >= static_cast<uint32_t>(world.npes)) return ChannelStatus::bad_pe;
  if (place.heap == nullptr) return ChannelStatus::bad_address;
  return world.nchannels == 0 ? ChannelStatus::no_channel : ChannelStatus::ok;
}

/// With SHMEM_CHECK: checks that the PE is in the world and that a range which begins in a heap ends in that heap.
RAILSHMEM_HD inline ChannelStatus check_range(const WorldView& world, const HeapPlace& place, uint64_t nbytes, int pe) {
  if (static_cast<uint32_t>(pe) >= static_cast<uint32_t>(world.npes)) return ChannelStatus::bad_pe;
  if (place.heap == nullptr) return place.here != nullptr ? ChannelStatus::ok : ChannelStatus::bad_address;
  return nbytes > place.heap->nbytes - place.offset ? ChannelStatus::bad_address : ChannelStatus::ok;
}

/// A command on a symmetric object.
RAILSHMEM_HD inline Command command_to(const WorldView& world, CommandOp op, const HeapPlace& place, uint64_t nbytes,
                                       Peer peer) {
  Command c;
  c.op = op;
  c.pe = static_cast<uint32_t>(peer.pe);
  c.context = peer.context < 0 ? world.context : static_cast<uint16_t>(peer.context);
  c.segment = static_cast<uint8_t>(place.heap->segment);
  c.remote_offset = place.offset;
  c.nbytes = nbytes;
  return c;
}

RAILSHMEM_HD inline uint64_t address_of(const void* local) {
  return reinterpret_cast<uintptr_t>(local);
}

RAILSHMEM_HD inline ChannelStatus issue(const WorldView& world, const Command& command, Payload payload) {
  return push(my_channel(world).ring, command, deadline_of(world), payload).status;
}

/// How a command leaves that names memory of the calling PE.
RAILSHMEM_HD inline Payload payload_to(Peer peer, Payload payload) {
  return peer.published ? Payload::released : payload;
}

/// When a call returns that pushes a command on the caller's memory: after the push, or when the command has finished.
enum class Completion : uint8_t { later, now };

/// What a call answers that pushed a command into `channel`. now: waits for this command's own ticket, not for a quiet:
/// commands that other threads push meanwhile do not delay it.
RAILSHMEM_HD inline ChannelStatus end_of(const WorldView& world, const ChannelView& channel, Reserved pushed,
                                         Completion completion) {
  if (completion == Completion::later || pushed.status != ChannelStatus::ok) return pushed.status;
  return wait_ticket(channel, pushed.ticket, deadline_of(world));
}

}  // namespace device
}  // namespace railshmem

#endif

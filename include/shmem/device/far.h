// SPDX-License-Identifier: BSD-3-Clause
// Put and get through the proxy, by one thread: the way to PEs that are not mapped. Each function is out of line, one
// copy in a program: a kernel that only talks to mapped PEs carries the function's registers but loses no time.
#ifndef SHMEM_DEVICE_FAR_H
#define SHMEM_DEVICE_FAR_H

#include <stdint.h>

#include "shmem/device/reply.h"

namespace railshmem {
namespace device {

inline constexpr uint64_t kInlineBytes = 8;  // what a command's value holds

/// Waits until every ticket of this thread's channel so far is finished.
RAILSHMEM_HD inline ChannelStatus wait_for_channel(const WorldView& world) {
  return quiet(my_channel(world), deadline_of(world));
}

/// Puts from memory that no NIC can read, value by value.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus put_pieces(const WorldView& world, Command c,
                                                                   const void* source, uint64_t nbytes) {
  const auto* from = static_cast<const unsigned char*>(source);
  c.op = CommandOp::put_inline;
  c.local = 0;
  for (uint64_t left = nbytes; left > 0;) {
    c.nbytes = left < kInlineBytes ? left : kInlineBytes;
    c.value = load_value(from, c.nbytes);
    const ChannelStatus status = issue(world, c, Payload::released);
    if (status != ChannelStatus::ok) return status;
    c.remote_offset += c.nbytes;
    from += c.nbytes;
    left -= c.nbytes;
  }
  return ChannelStatus::ok;
}

RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus put_far(const WorldView& world, const HeapPlace& place,
                                                                const void* source, uint64_t nbytes,
                                                                RAILSHMEM_STRUCT(Peer) peer, Payload payload,
                                                                Completion completion) {
  const ChannelStatus refused = refusal(world, place, peer.pe);
  if (refused != ChannelStatus::ok) return refused;
  Command c = command_to(world, CommandOp::put, place, nbytes, peer);
  if (nbytes <= kInlineBytes || !portable::is_global(source)) return put_pieces(world, c, source, nbytes);
  c.local = address_of(source);
  const ChannelView& channel = my_channel(world);
  return end_of(world, channel, push(channel.ring, c, deadline_of(world), payload_to(peer, payload)), completion);
}

/// One value of nbytes, at most kInlineBytes.
RAILSHMEM_HD inline ChannelStatus put_value_far(const WorldView& world, const HeapPlace& place, uint64_t value,
                                                uint64_t nbytes, Peer peer) {
  const ChannelStatus refused = refusal(world, place, peer.pe);
  if (refused != ChannelStatus::ok) return refused;
  Command c = command_to(world, CommandOp::put_inline, place, nbytes, peer);
  c.value = value;
  return issue(world, c, Payload::released);
}

RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus get_far(const WorldView& world, const HeapPlace& place,
                                                                void* dest, uint64_t nbytes,
                                                                RAILSHMEM_STRUCT(Peer) peer, Completion completion) {
  const ChannelStatus refused = refusal(world, place, peer.pe);
  if (refused != ChannelStatus::ok) return refused;
  Command c = command_to(world, CommandOp::get, place, nbytes, peer);
  if (portable::is_global(dest)) {
    c.local = address_of(dest);
    // written: the old contents of `dest` must not arrive after the fetched data.
    const Payload payload = payload_to(peer, Payload::written);
    const ChannelView& channel = my_channel(world);
    return end_of(world, channel, push(channel.ring, c, deadline_of(world), payload), completion);
  }
  auto* to = static_cast<unsigned char*>(dest);
  for (uint64_t left = nbytes; left > 0;) {
    c.nbytes = left < kReplyBytes ? left : kReplyBytes;
    const ChannelStatus status = issue_and_fetch(world, c, to, c.nbytes, Payload::released);
    if (status != ChannelStatus::ok) return status;
    c.remote_offset += c.nbytes;
    to += c.nbytes;
    left -= c.nbytes;
  }
  return ChannelStatus::ok;
}

}  // namespace device
}  // namespace railshmem

#endif

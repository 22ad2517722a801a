// SPDX-License-Identifier: BSD-3-Clause
// Commands that bring a value back to a variable of the calling thread, which no proxy can write.
#ifndef SHMEM_DEVICE_REPLY_H
#define SHMEM_DEVICE_REPLY_H

#include <stdint.h>

#include "shmem/detail/copy.h"
#include "shmem/device/issue.h"

namespace railshmem {
namespace device {

inline constexpr uint64_t kReplyBytes = sizeof(ReplyCells::Cell);

/// Takes a free cell, looking from cell `start` on; waits while all cells are taken.
RAILSHMEM_HD inline ChannelStatus take_cell(const ChannelView& channel, uint64_t start, Deadline deadline,
                                            uint32_t* taken) {
  const uint32_t mask = (1u << channel.replies.log2_cells) - 1;
  Waiter waiter(channel.ring.error, deadline);
  for (uint32_t at = static_cast<uint32_t>(start) & mask;; at = (at + 1) & mask) {
    if (portable::take(channel.replies.taken + at)) {
      *taken = at;
      return ChannelStatus::ok;
    }
    // A thread that gets a cell pushes a command, so the head shows progress.
    const ChannelStatus status = waiter.turn(portable::load_relaxed(channel.ring.head));
    if (status != ChannelStatus::ok) return status;
  }
}

/// Issues `c` with a place for the fetched value, and returns with that value in the `nbytes` (at most kReplyBytes) at
/// `out`.
RAILSHMEM_HD inline ChannelStatus issue_and_fetch(const WorldView& world, Command c, void* out, uint64_t nbytes,
                                                  Payload payload) {
  const ChannelView& channel = my_channel(world);
  const ReplyCells& replies = channel.replies;
  if (replies.cells == nullptr) {
    c.local = address_of(out);
    if (!portable::is_global(out)) return ChannelStatus::no_channel;
    return end_of(world, channel, push(channel.ring, c, deadline_of(world), payload), Completion::now);
  }
  const Deadline deadline = deadline_of(world);
  uint32_t cell = 0;
  // Where to look first: neighbours in time get different cells.
  ChannelStatus status =
      take_cell(channel, portable::load_relaxed(channel.ring.head) + threads::lane(), deadline, &cell);
  if (status != ChannelStatus::ok) return status;
  c.local = address_of(replies.cells + cell);
  status = end_of(world, channel, push(channel.ring, c, deadline, payload), Completion::now);
  if (status != ChannelStatus::ok) return status;  // the cell stays taken: its answer may still come
  uint64_t value[2];
  value[0] = portable::load_relaxed(&replies.cells[cell].value[0]);
  value[1] = nbytes > 8 ? portable::load_relaxed(&replies.cells[cell].value[1]) : 0;
  auto* const bytes = static_cast<unsigned char*>(out);
  for (uint64_t i = 0; i < nbytes; ++i) bytes[i] = static_cast<unsigned char>(value[i / 8] >> (8 * (i % 8)));
  // release: the next owner's answer must not be what this thread reads.
  portable::store_release(replies.taken + cell, 0);
  return ChannelStatus::ok;
}

}  // namespace device
}  // namespace railshmem

#endif

// SPDX-License-Identifier: BSD-3-Clause
// The kernels before and behind the copies of a collective by copy engines. For CUDA, and for threads that stand for
// kernels.
#pragma once

#include "src/cuda/kernels/coll_direct.h"

namespace railshmem::cuda::kernels {

/// The own block, by any number of blocks. It runs beside the meeting and the copies, and touches what no other member
/// touches: others only read the source.
RAILSHMEM_KERNEL inline void run_own_block(const OwnBlockCall& c) {
  copy_together<kCopyUnroll>(rank_in_grid(), threads_in_grid(), static_cast<unsigned char*>(c.dest),
                             static_cast<const unsigned char*>(c.source), c.nbytes);
}

/// By one block: all members have come, and tell each other how their blocks lie. `heard` is of the block.
RAILSHMEM_KERNEL inline void run_begin(const EngineMoveCall& c, Heard& heard) {
  Talk talk(c.move.members);
  const int n = talk.n(), rank = static_cast<int>(threads::thread_in_row()),
            size = static_cast<int>(threads::row_size());
  if (rank == 0) heard = {};
  talk.next();
  threads::sync_block();
  RAILSHMEM_NO_UNROLL
  for (int k = rank; k < n; k += size) {
    if (k != talk.me()) talk.tell(k, c.place, 0);
  }
  RAILSHMEM_NO_UNROLL
  for (int k = rank; k < n; k += size) {
    uint64_t place = c.place, unused = 0;
    if (k != talk.me()) talk.hear(k, &place, &unused);
    if (!talk.well()) heard.failed = 1;
    if (place == 0 || place != c.place) heard.differs = static_cast<uint32_t>(k) + 1;
  }
  threads::sync_block();
  if (rank == 0) {
    *talk.mine<Heard>(talk.layout().heard()) = heard;
    // Counters of pieces rise as soon as an engine has fetched a piece: it must have been the right one.
    if (c.arrived != nullptr && heard.differs != 0 && heard.failed == 0) {
      const int pe = *talk.mine<int32_t>(talk.layout().pe(static_cast<int>(heard.differs) - 1));
      device::finish(device::this_world(), DeviceCall::coll_on_stream, ChannelStatus::bad_address, pe,
                     c.move.dest[talk.me()]);
    }
    if (c.arrived != nullptr)
      portable::store_relaxed(talk.mine<uint64_t>(talk.layout().call()), portable::load_relaxed(c.arrived) + 1);
  }
  talk.close(c.move.dest[talk.me()]);
}

/// By any number of blocks. Where the engines fetched everything, the first block alone meets the other members, as
/// nothing is left to do: no fence, and no count of blocks, of which each costs a microsecond.
RAILSHMEM_KERNEL inline void run_end(const EngineMoveCall& c, Halves& halves) {
  Talk talk(c.move.members);
  const Heard& heard = *talk.mine<Heard>(talk.layout().heard());
  if (heard.failed != 0) return;  // the kernel before has told the host
  if (heard.differs != 0) return run_staged_move(c.move, c.root, halves);
  if (talk.block() != 0) return;
  meet_last(talk, Did::load);
  talk.close(c.move.dest[talk.me()]);
}

}  // namespace railshmem::cuda::kernels

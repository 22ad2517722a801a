// SPDX-License-Identifier: BSD-3-Clause
// The kernels before and behind the copies of a collective by copy engines. For CUDA, and for threads that stand for
// kernels.
#pragma once

#include "src/cuda/kernels/coll_direct.h"

namespace railshmem::cuda::kernels {

/// Counters of pieces rise as soon as an engine has fetched a piece: it must have been the right one.
RAILSHMEM_KERNEL inline void check_expected(const Talk& talk, const EngineMoveCall& c, const Found& found) {
  for (int k = 0; k < talk.n() && c.arrived != nullptr && found.failed == 0; ++k) {
    if (k == talk.me() || found.source[k] == c.expected[k]) continue;
    const int pe = *talk.mine<int32_t>(talk.layout().pe(k));
    device::finish(device::this_world(), DeviceCall::coll_on_stream, ChannelStatus::bad_address, pe, c.expected[k]);
    return;
  }
}

RAILSHMEM_KERNEL inline bool sends_to_all(const EngineMoveCall& c, int member) {
  return c.root < 0 || member == c.root;
}

/// Whether the copies bring member k's block, which lies at `source`, if it sends one.
RAILSHMEM_KERNEL inline bool is_fetched(const EngineMoveCall& c, int k, const void* source) {
  return !sends_to_all(c, k) || source == c.expected[k];
}

/// The own block, by any number of blocks. It runs beside the meeting and the copies, and touches what no other member
/// touches: others only read the source.
RAILSHMEM_KERNEL inline void run_own_block(const OwnBlockCall& c) {
  copy_together<kCopyUnroll>(rank_in_grid(), threads_in_grid(), static_cast<unsigned char*>(c.dest),
                             static_cast<const unsigned char*>(c.source), c.nbytes);
}

/// By one block: all members have come, and tell each other where their blocks are.
RAILSHMEM_KERNEL inline void run_begin(const EngineMoveCall& c, Found& found) {
  Talk talk(c.direct.move.members);
  meet_first(talk, c.direct.where, found);
  auto* const heard = talk.mine<Heard>(talk.layout().heard());
  RAILSHMEM_NO_UNROLL
  for (int k = static_cast<int>(threads::thread_in_row()); k < talk.n(); k += static_cast<int>(threads::row_size())) {
    heard->source[k] = reinterpret_cast<uintptr_t>(found.source[k]);
    if (!is_fetched(c, k, k == talk.me() ? c.direct.move.source[k] : found.source[k])) found.unfetched = 1;
  }
  threads::sync_block();
  if (threads::thread_in_row() == 0) {
    heard->missing = found.missing;
    heard->failed = found.failed;
    heard->unfetched = found.unfetched;
    check_expected(talk, c, found);
    if (c.arrived != nullptr)
      portable::store_relaxed(talk.mine<uint64_t>(talk.layout().call()), portable::load_relaxed(c.arrived) + 1);
  }
  talk.close(c.direct.move.dest[talk.me()]);
}

/// Whether this is the last block of the grid to come here; what all others stored is visible to it. `shared` is of the
/// block.
RAILSHMEM_KERNEL inline bool comes_last(uint64_t* counter, uint32_t* shared) {
  threads::sync_block();
  if (threads::thread_in_row() == 0) {
    portable::release_fence();
    const bool last = portable::fetch_add_relaxed(counter, 1) + 1 == threads::blocks_in_row();
    if (last) portable::store_relaxed(counter, 0);
    portable::acquire_fence();
    *shared = last ? 1 : 0;
  }
  threads::sync_block();
  return *shared != 0;
}

/// The first block alone meets the other members, as nothing is left to do: no fence, and no count of blocks, of which
/// each costs a microsecond.
RAILSHMEM_KERNEL inline void meet_by_first(Talk& talk, const EngineMoveCall& c) {
  if (talk.block() != 0) return;
  meet_last(talk, Did::load);
  talk.close(c.direct.move.dest[talk.me()]);
}

/// By any number of blocks: fetches what the engines did not, or fetched from the wrong place, and this member's own
/// block where the engines fetched nothing. The last block to be done meets the other members.
RAILSHMEM_KERNEL inline void run_end(const EngineMoveCall& c, uint32_t* shared) {
  const MoveCall& move = c.direct.move;
  Talk talk(move.members);
  const Heard& heard = *talk.mine<Heard>(talk.layout().heard());
  if (heard.failed != 0) return;  // the kernel before has told the host
  if (heard.missing == 0 && heard.unfetched == 0) return meet_by_first(talk, c);
  const int me = talk.me();
  const auto sends = [&c](int k) { return sends_to_all(c, k) ? c.direct.move.nbytes : 0; };
  if (heard.missing != 0) {
    const auto sends_all = [nbytes = sends(me)](int) { return nbytes; };
    move_sizes(talk, move, move.nbytes, sends_all, sends);
    talk.close(move.dest[me]);
  } else {
    const auto source = [&](int k) -> const void* {
      if (k == me) return move.source[me];
      return reinterpret_cast<const void*>(static_cast<uintptr_t>(heard.source[k]));
    };
    const auto from = [&](int i) { return talk.after(i + 1); };  // this member's own block last
    copy_in_turns(
        talk.n(), move.nbytes, [&](int i) { return move.dest[from(i)]; },
        [&](int i) -> const void* {
          const int k = from(i);
          return is_fetched(c, k, source(k)) ? move.dest[k] : source(k);
        });
  }
  if (!comes_last(talk.mine<uint64_t>(talk.layout().done()), shared)) return;
  Talk first(move.members, 0);
  meet_last(first, Did::load);
  first.close(move.dest[me]);
}

}  // namespace railshmem::cuda::kernels

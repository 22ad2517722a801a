// SPDX-License-Identifier: BSD-3-Clause
// Collectives of a node that go straight between the members' buffers, between two meetings: when all have come, and
// when all are done. For CUDA, and for threads that stand for kernels.
#pragma once

#include "src/cuda/kernels/coll_staged.h"

namespace railshmem::cuda::kernels {

/// Buffers of all members, as this member reaches them. In shared memory of the block.
struct Found {
  const void* source[kMostMembers];
  void* dest[kMostMembers];
  uint32_t missing;  ///< not 0: some member does not reach some buffer
  uint32_t failed;   ///< not 0: some member did not come; nothing is touched then
};

/// All members have come to the call: their sources are ready, and their dests may be written. Takes no fence, of which
/// each costs a microsecond. What a member's earlier kernels stored was visible to all GPUs when they ended. And what
/// this kernel loads of the others' memory behind the meeting it loads for the first time; a kernel begins with nothing
/// cached in its multiprocessor.
RAILSHMEM_KERNEL inline void meet_first(Talk& talk, const Whereabouts& where, Found& found) {
  const auto rank = static_cast<int>(threads::thread_in_row());
  const auto size = static_cast<int>(threads::row_size());
  if (rank == 0) found.missing = found.failed = 0;
  talk.next();
  threads::sync_block();
  // Told before anything is waited for: a thread may stand for several members.
  RAILSHMEM_NO_UNROLL
  for (int k = rank; k < talk.n(); k += size) {
    if (k != talk.me()) talk.tell(k, where.source[k], where.dest[k]);
  }
  RAILSHMEM_NO_UNROLL
  for (int k = rank; k < talk.n(); k += size) {
    uint64_t source = where.source[k], dest = where.dest[k];
    if (k != talk.me()) talk.hear(k, &source, &dest);
    found.source[k] = reinterpret_cast<const void*>(static_cast<uintptr_t>(source & ~Whereabouts::kForAll));
    found.dest[k] = reinterpret_cast<void*>(static_cast<uintptr_t>(dest));
    if (!talk.well()) found.failed = 1;
    if ((source & Whereabouts::kForAll) == 0) found.missing = 1;
  }
  threads::sync_block();
}

/// What a member's kernel did with the others' memory. Loads have ended when the block meets, because each was used.
enum class Did : uint8_t { load, store };

/// All members are done: sources may change, and dests are complete.
RAILSHMEM_KERNEL inline void meet_last(Talk& talk, Did did) {
  const auto rank = static_cast<int>(threads::thread_in_row());
  const auto size = static_cast<int>(threads::row_size());
  talk.next();
  threads::sync_block();
  RAILSHMEM_NO_UNROLL
  for (int k = rank; k < talk.n(); k += size) {
    if (k == rank && did == Did::store) portable::release_fence();  // what the block stored comes before
    if (k != talk.me()) talk.tell(k, 0, 0);
  }
  RAILSHMEM_NO_UNROLL
  for (int k = rank; k < talk.n(); k += size) {
    uint64_t unused = 0;
    if (k != talk.me()) talk.hear(k, &unused, &unused);
  }
}

/// Whether every member gets one block, and all its places have whole vectors: an all-gather's mostly.
RAILSHMEM_KERNEL inline bool is_spread(const MoveCall& move, const Found& found, int me) {
  auto all = static_cast<uintptr_t>(move.nbytes) | reinterpret_cast<uintptr_t>(move.source[0]);
  RAILSHMEM_NO_UNROLL
  for (int k = 0; k < static_cast<int>(move.members.n); ++k) {
    if (move.source[k] != move.source[0]) return false;
    all |= reinterpret_cast<uintptr_t>(k == me ? move.dest[k] : found.dest[k]);
  }
  return (all & 15) == 0;
}

/// Stores this member's blocks at all members.
RAILSHMEM_KERNEL inline void store_blocks(Talk& talk, const MoveCall& move, Found& found) {
  const int n = talk.n(), me = talk.me();
  const bool spread = is_spread(move, found, me);
  threads::sync_block();  // all have read found
  if (threads::thread_in_row() == 0)
    found.dest[me] = spread && move.dest[me] == move.source[me] ? nullptr : move.dest[me];
  threads::sync_block();
  if (spread)
    return copy_to_all({found.dest, n, talk.after(1 % n)}, static_cast<const copying::Bytes16*>(move.source[0]),
                       move.nbytes / sizeof(copying::Bytes16));
  const auto other = [&talk, n](int i) { return talk.after((i + 1) % n); };  // this member's own block last
  copy_in_turns(
      n, move.nbytes, [&](int i) { return found.dest[other(i)]; }, [&](int i) { return move.source[other(i)]; });
}

/// All-gather and all-to-all: every member stores its blocks at the others.
RAILSHMEM_KERNEL inline void run_direct_move(const DirectMoveCall& c, Found& found, Halves& halves) {
  Talk talk(c.move.members);
  meet_first(talk, c.where, found);
  if (found.failed != 0) return talk.close(c.move.dest[talk.me()]);
  if (found.missing != 0 && c.move.nbytes >= kLongBlock) {
    talk.close(c.move.dest[talk.me()]);
    return run_staged_move(c.move, -1, halves);
  }
  if (found.missing != 0) {
    move_packets<kUnitsOfThread>(talk, c.move);
  } else {
    store_blocks(talk, c.move, found);
  }
  meet_last(talk, Did::store);
  talk.close(c.move.dest[talk.me()]);
}

/// Reduce-scatter, and all-reduce by parts: every member computes its part from all sources. In an all-reduce it stores
/// the result at all members.
RAILSHMEM_KERNEL inline void run_direct_combine(const DirectCombineCall& c, Found& found, Halves& halves) {
  const CombineCall& call = c.combine;
  Talk talk(call.members);
  meet_first(talk, c.where, found);
  if (found.failed != 0) return talk.close(call.dest);
  if (found.missing != 0 && call.nbytes >= kLongBlock) {
    talk.close(call.dest);
    return run_staged_combine(call, halves);
  }
  if (found.missing != 0) {
    combine_packets<kUnitsOfThread>(talk, call, meeting_of(call), call.two_steps != 0);
  } else {
    const bool to_all = call.two_steps != 0;
    const uint64_t begin = to_all ? static_cast<uint64_t>(talk.me()) * call.nbytes : 0;
    DeviceReduction& part = halves.part;
    if (threads::thread_in_row() == 0) {
      const uint64_t left = to_all ? left_of(call.whole, begin) : call.nbytes;
      part.op = call.op;
      part.kind = call.kind;
      part.scaling = call.scaling;
      part.factor = call.factor;
      part.noperands = talk.n();
      part.nresults = to_all ? talk.n() : 1;
      part.nelems = (left < call.nbytes ? left : call.nbytes) / bytes_of_element(call.kind);
      for (int k = 0; k < talk.n(); ++k) {
        part.operands[k] = k == talk.me() ? call.source[k] : bytes_at(found.source[k], begin);
        if (to_all) part.results[k] = bytes_at(k == talk.me() ? call.dest : found.dest[k], begin);
      }
      if (!to_all) part.results[0] = call.dest;
    }
    threads::sync_block();
    reduce(part, rank_in_grid(), threads_in_grid());
  }
  meet_last(talk, call.two_steps != 0 ? Did::store : Did::load);
  talk.close(call.dest);
}

}  // namespace railshmem::cuda::kernels

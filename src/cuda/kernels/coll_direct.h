// SPDX-License-Identifier: BSD-3-Clause
// Collectives of a node that go straight between the members' buffers, between two meetings: when all have come, and
// when all are done. For CUDA, and for threads that stand for kernels.
#pragma once

#include "src/cuda/kernels/coll_packets.h"

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

/// The calling thread's number among those of the grid, and how many they are.
RAILSHMEM_KERNEL inline uint32_t rank_in_grid() {
  return threads::block_in_row() * threads::row_size() + threads::thread_in_row();
}
RAILSHMEM_KERNEL inline uint32_t threads_in_grid() {
  return threads::blocks_in_row() * threads::row_size();
}

/// All-gather and all-to-all: every member stores its blocks at the others.
RAILSHMEM_KERNEL inline void run_direct_move(const DirectMoveCall& c, Found& found) {
  Talk talk(c.move.members);
  meet_first(talk, c.where, found);
  if (found.failed != 0) return talk.close(c.move.dest[talk.me()]);
  if (found.missing != 0) {
    move_packets(talk, c.move);
  } else {
    RAILSHMEM_NO_UNROLL
    for (int i = 1; i <= talk.n(); ++i) {  // this member's own block last
      const int to = talk.after(i % talk.n());
      void* const dest = to == talk.me() ? c.move.dest[to] : found.dest[to];
      if (dest != c.move.source[to])
        copy_together<kCopyUnroll>(rank_in_grid(), threads_in_grid(), dest, c.move.source[to], c.move.nbytes);
    }
  }
  meet_last(talk, Did::store);
  talk.close(c.move.dest[talk.me()]);
}

RAILSHMEM_HD inline uint32_t bytes_of_element(TypeKind kind) {
  switch (kind) {
    case TypeKind::i8:
    case TypeKind::u8:
    case TypeKind::f8e4m3:
    case TypeKind::f8e5m2:
      return 1;
    case TypeKind::i16:
    case TypeKind::u16:
    case TypeKind::f16:
    case TypeKind::bf16:
      return 2;
    case TypeKind::i32:
    case TypeKind::u32:
    case TypeKind::f32:
      return 4;
    case TypeKind::c64:
    case TypeKind::long_double:
      return 16;
    default:
      return 8;
  }
}

/// reduce(), which is long, once in a kernel.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void reduce_share(const DeviceReduction& part) {
  reduce(part, rank_in_grid(), threads_in_grid());
}

/// Reduce-scatter, and all-reduce by parts: every member computes its part from all sources. In an all-reduce it stores
/// the result at all members.
RAILSHMEM_KERNEL inline void run_direct_combine(const DirectCombineCall& c, Found& found, DeviceReduction& part) {
  const CombineCall& call = c.combine;
  Talk talk(call.members);
  meet_first(talk, c.where, found);
  if (found.failed != 0) return talk.close(call.dest);
  if (found.missing != 0) {
    combine_packets(talk, call, meeting_of(call), call.two_steps != 0);
  } else {
    const bool to_all = call.two_steps != 0;
    const uint64_t begin = to_all ? static_cast<uint64_t>(talk.me()) * call.nbytes : 0;
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
    reduce_share(part);
  }
  meet_last(talk, call.two_steps != 0 ? Did::store : Did::load);
  talk.close(call.dest);
}

}  // namespace railshmem::cuda::kernels

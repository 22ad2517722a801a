// SPDX-License-Identifier: BSD-3-Clause
// Long collectives of a node in chunks through scratch memory of the receivers, so that buffers may be any memory of
// this GPU. Half of a block's threads sends chunks while the other half takes what has come: the link is never idle,
// and takes 16 bytes of 16. For CUDA, and for threads that stand for kernels.
#pragma once

#include "src/cuda/kernels/coll_copy.h"
#include "src/cuda/kernels/coll_packets.h"

namespace railshmem::cuda::kernels {

/// What the two halves of a block share. In shared memory of the block: a kernel's parameters, which a function out of
/// line finds in memory, take half a microsecond each.
struct Halves {
  DeviceReduction part;  ///< the chunk that is being reduced
  const void* source[kMostMembers];
  void* dest[kMostMembers];
  uint64_t stopped[2];  ///< of each half, not 0: it waited for some member in vain
};

/// The half that the calling thread belongs to.
struct Half {
  static constexpr uint32_t kSends = 0, kTakes = 1;
  uint32_t which, rank, size;

  RAILSHMEM_KERNEL void sync() const { threads::sync_part(which, size); }
};

/// What goes to a member.
struct Outgoing {
  const void* at;
  uint64_t nbytes;
};

/// A chunk of the blocks that members hand each other: bytes [begin, end) of each. Block b of a grid moves chunks
/// b, b + blocks, ... Chunks are numbered by block, from call to call, and the number is in this member's memory.
struct Chunk {
  uint64_t number, begin, end;

  /// How many of its bytes a block of `nbytes` has.
  RAILSHMEM_KERNEL uint64_t of(uint64_t nbytes) const { return left_of(nbytes < end ? nbytes : end, begin); }
};

/// Moves chunks between the blocks of one number. A member sends a chunk into one of kSlots places for it when the
/// receiver has taken the chunk that was there before.
class Stage {
 public:
  RAILSHMEM_KERNEL Stage(Talk& talk, Halves& halves)
      : talk_(talk),
        halves_(halves),
        sent_(talk.mine<uint64_t>(talk.layout().chunk_number(talk.block()))),
        number_(portable::load_relaxed(sent_)) {
    if (threads::thread_in_row() == 0) halves.stopped[Half::kSends] = halves.stopped[Half::kTakes] = 0;
    threads::sync_block();
  }

  /// All members call it with equal `nbytes`, of the longest block. `speaks(k)`: whether member k sends at all.
  /// `block(k)`: what goes to member k. `prepare(chunk)` is called by one thread, `take(chunk, half)` by those that
  /// take, when all members' chunks are there, in from(), and this member has sent its own: the takers may overwrite
  /// them. Returns false where some member did not come.
  template <class Speaks, class Block, class Prepare, class Take>
  RAILSHMEM_KERNEL bool run(uint64_t nbytes, Speaks speaks, Block block, Prepare prepare, Take take) {
    const uint32_t size = threads::row_size(), rank = threads::thread_in_row(), senders = size / 2;
    const bool sends = rank < senders;
    const Half half = sends ? Half{Half::kSends, rank, senders} : Half{Half::kTakes, rank - senders, size - senders};
    const uint64_t length = talk_.members().chunk;
    Chunk chunk{number_, 0, 0};
    RAILSHMEM_NO_UNROLL
    for (chunk.begin = threads::block_in_row() * length; chunk.begin < nbytes;
         chunk.begin += threads::blocks_in_row() * length) {
      ++chunk.number;
      chunk.end = chunk.begin + length;
      if (senders == 0 && !send({Half::kSends, 0, 1}, chunk, speaks, block)) break;  // one thread does both
      if (!(sends ? send(half, chunk, speaks, block) : receive(half, chunk, speaks, prepare, take))) break;
    }
    number_ = chunk.number;
    threads::sync_block();
    return !has_stopped(Half::kSends) && !has_stopped(Half::kTakes);
  }

  /// The chunk that came from member k.
  RAILSHMEM_KERNEL const unsigned char* from(int k, const Chunk& chunk) const {
    return talk_.mine<unsigned char>(talk_.layout().chunk(chunk.number, talk_.block(), k, talk_.me()));
  }

  /// Ends the block's part: all threads call it once. The number is stored already.
  RAILSHMEM_KERNEL void close(const void* dest) const { talk_.report(dest); }

 private:
  RAILSHMEM_KERNEL bool has_stopped(uint32_t half) const { return portable::load_relaxed(&halves_.stopped[half]) != 0; }
  /// Whether all threads of the half go on: they meet.
  RAILSHMEM_KERNEL bool goes_on(const Half& half) const {
    if (!talk_.well()) portable::store_relaxed(&halves_.stopped[half.which], 1);
    half.sync();
    return !has_stopped(half.which);
  }

  template <class Speaks, class Block>
  RAILSHMEM_KERNEL bool send(const Half& half, const Chunk& chunk, Speaks speaks, Block block) {
    const ScratchLayout& layout = talk_.layout();
    const int n = talk_.n(), me = talk_.me();
    const bool silent = !speaks(me);
    RAILSHMEM_NO_UNROLL
    for (int k = static_cast<int>(half.rank); k < n && !silent && chunk.number > ScratchLayout::kSlots;
         k += static_cast<int>(half.size)) {
      if (k != me)
        talk_.await_count(talk_.mine<uint64_t>(layout.taken(talk_.block(), k)), chunk.number - ScratchLayout::kSlots,
                          k);
    }
    if (!goes_on(half)) return false;
    RAILSHMEM_NO_UNROLL
    for (int i = 1; i < n && !silent; ++i) {
      const int to = talk_.after(i);
      const Outgoing bytes = block(to);
      copy_together<kCopyUnroll>(half.rank, half.size,
                                 talk_.theirs<unsigned char>(to, layout.chunk(chunk.number, talk_.block(), me, to)),
                                 bytes_at(bytes.at, chunk.begin), chunk.of(bytes.nbytes));
    }
    half.sync();
    if (half.rank != 0) return true;
    if (!silent && n > 1) portable::release_fence();  // the chunks come before their numbers
    RAILSHMEM_NO_UNROLL
    for (int i = 1; i < n && !silent; ++i) {
      const int to = talk_.after(i);
      portable::store_fenced(talk_.theirs<uint64_t>(to, layout.arrived(chunk.number, talk_.block(), me)), chunk.number);
    }
    portable::store_fenced(sent_, chunk.number);
    return true;
  }

  template <class Speaks, class Prepare, class Take>
  RAILSHMEM_KERNEL bool receive(const Half& half, const Chunk& chunk, Speaks speaks, Prepare prepare, Take take) {
    const ScratchLayout& layout = talk_.layout();
    const int n = talk_.n(), me = talk_.me();
    RAILSHMEM_NO_UNROLL
    for (int k = static_cast<int>(half.rank); k < n; k += static_cast<int>(half.size)) {
      if (k != me && speaks(k))
        talk_.await_count(talk_.mine<uint64_t>(layout.arrived(chunk.number, talk_.block(), k)), chunk.number, k);
    }
    if (half.rank == 0) {
      for (uint32_t turn = 0; portable::load_to_store(sent_) < chunk.number && !has_stopped(Half::kSends); ++turn)
        portable::relax(turn);
      if (has_stopped(Half::kSends)) portable::store_relaxed(&halves_.stopped[Half::kTakes], 1);
      prepare(chunk);
    }
    if (!goes_on(half)) return false;
    take(chunk, half);
    half.sync();  // loads have ended: each was used
    RAILSHMEM_NO_UNROLL
    for (int k = static_cast<int>(half.rank); k < n; k += static_cast<int>(half.size)) {
      if (k != me) portable::store_fenced(talk_.theirs<uint64_t>(k, layout.taken(talk_.block(), me)), chunk.number);
    }
    return true;
  }

  Talk& talk_;
  Halves& halves_;
  uint64_t* const sent_;  ///< the number of the last chunk that this block has sent
  uint64_t number_;       ///< of the last chunk before
};

/// All-gather, all-to-all, and a broadcast from member `root`, if that is not negative.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void run_staged_move(const MoveCall& c, int root, Halves& halves) {
  const CollMembers members = c.members;
  const uint64_t nbytes = c.nbytes;
  RAILSHMEM_NO_UNROLL
  for (int k = static_cast<int>(threads::thread_in_row()); k < members.n; k += static_cast<int>(threads::row_size())) {
    halves.source[k] = c.source[k];
    halves.dest[k] = c.dest[k];
  }
  Talk talk(members);
  Stage stage(talk, halves);
  const auto speaks = [root](int k) { return root < 0 || k == root; };
  const auto take = [&](const Chunk& chunk, const Half& half) {
    RAILSHMEM_NO_UNROLL
    for (int i = 0; i < talk.n(); ++i) {
      const int k = talk.after(i);
      if (!speaks(k)) continue;
      unsigned char* const to = bytes_at(halves.dest[k], chunk.begin);
      const unsigned char* const from = k == talk.me() ? bytes_at(halves.source[k], chunk.begin) : stage.from(k, chunk);
      if (to != from) copy_together<kCopyUnroll>(half.rank, half.size, to, from, chunk.of(nbytes));
    }
  };
  stage.run(
      nbytes, speaks,
      [&](int k) {
        return Outgoing{halves.source[k], nbytes};
      },
      [](const Chunk&) {}, take);
  stage.close(halves.dest[talk.me()]);
}

/// Reduce-scatter, and all-reduce: of parts, whose results then go to all. The blocks of a grid reduce the chunks that
/// they send on. `reduce_chunk(part, rank, size)` reduces the part of one thread.
template <class ReduceChunk>
RAILSHMEM_KERNEL inline void combine_staged(const CombineCall& c, Halves& halves, ReduceChunk reduce_chunk) {
  const CollMembers members = c.members;
  const int me = members.me;
  const uint64_t part_nbytes = c.nbytes, whole = c.whole;
  const bool to_all = c.two_steps != 0;
  unsigned char* const dest = bytes_at(c.dest, 0);
  const uint32_t element = bytes_of_element(c.kind);
  RAILSHMEM_NO_UNROLL
  for (int k = static_cast<int>(threads::thread_in_row()); k < members.n; k += static_cast<int>(threads::row_size()))
    halves.source[k] = c.source[k];
  if (threads::thread_in_row() == 0) {
    DeviceReduction& part = halves.part;
    part.op = c.op;
    part.kind = c.kind;
    part.scaling = c.scaling;
    part.factor = c.factor;
    part.noperands = members.n;
    part.nresults = 1;
  }
  Talk talk(members);
  Stage stage(talk, halves);
  const auto place = [=](int k) { return to_all ? static_cast<uint64_t>(k) * part_nbytes : 0; };
  const auto nbytes = [=](int k) {  // of part k
    const uint64_t left = to_all ? left_of(whole, place(k)) : part_nbytes;
    return left < part_nbytes ? left : part_nbytes;
  };
  const auto all = [](int) { return true; };
  const auto prepare = [&](const Chunk& chunk) {
    DeviceReduction& part = halves.part;
    part.nelems = chunk.of(nbytes(me)) / element;
    for (int k = 0; k < talk.n(); ++k)
      part.operands[k] = k == me ? bytes_at(halves.source[k], chunk.begin) : stage.from(k, chunk);
    part.results[0] = dest + place(me) + chunk.begin;
  };
  const bool reduced = stage.run(
      part_nbytes, all,
      [&](int k) {
        return Outgoing{halves.source[k], nbytes(k)};
      },
      prepare, [&](const Chunk&, const Half& half) { reduce_chunk(halves.part, half.rank, half.size); });
  const auto take = [&](const Chunk& chunk, const Half& half) {
    RAILSHMEM_NO_UNROLL
    for (int i = 1; i < talk.n(); ++i) {
      const int k = talk.after(i);
      copy_together<kCopyUnroll>(half.rank, half.size, dest + place(k) + chunk.begin, stage.from(k, chunk),
                                 chunk.of(nbytes(k)));
    }
  };
  if (to_all && reduced)
    stage.run(
        part_nbytes, all,
        [&](int) {
          return Outgoing{dest + place(me), nbytes(me)};
        },
        [](const Chunk&) {}, take);
  stage.close(dest);
}

/// Of any type and operation.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void run_staged_combine(const CombineCall& c, Halves& halves) {
  combine_staged(c, halves,
                 [](const DeviceReduction& part, uint32_t rank, uint32_t size) { reduce(part, rank, size); });
}
/// Of calls whose elements are T and whose operation is a sum.
template <class T>
RAILSHMEM_KERNEL inline void run_staged_sum(const CombineCall& c, Halves& halves) {
  combine_staged(c, halves, [](const DeviceReduction& part, uint32_t rank, uint32_t size) {
    reduce_only<T, device::Sum, 4>(part, rank, size);
  });
}

}  // namespace railshmem::cuda::kernels

// SPDX-License-Identifier: BSD-3-Clause
// A reduce-scatter that follows its producers piece by piece. For CUDA, and for threads that stand for kernels.
#pragma once

#include "src/cuda/kernels/coll_direct.h"

namespace railshmem::cuda::kernels {

/// Waits until all members' pieces are ready for call number `number`. Thread k looks at the counter of member k.
RAILSHMEM_KERNEL inline void await_piece(Talk& talk, const PieceCombineCall& c, uint64_t piece, uint64_t number) {
  RAILSHMEM_NO_UNROLL
  for (uint32_t k = threads::thread_in_row(); k < static_cast<uint32_t>(talk.n()); k += threads::row_size())
    talk.await_count(c.ready[k] + piece, number, static_cast<int>(k));
  threads::sync_block();
}

/// Each block takes pieces of its own. `part` and `number` are of the block.
RAILSHMEM_KERNEL inline void run_pieces(const PieceCombineCall& c, DeviceReduction& part, uint64_t* number) {
  Talk talk(c.members);
  const uint64_t pieces = (c.nbytes + c.piece - 1) / c.piece;
  RAILSHMEM_NO_UNROLL
  for (uint64_t piece = threads::block_in_row(); piece < pieces; piece += threads::blocks_in_row()) {
    const uint64_t at = piece * c.piece, left = c.nbytes - at;
    if (threads::thread_in_row() == 0) {
      *number = portable::load_relaxed(c.done + piece) + 1;
      part.op = c.op;
      part.kind = c.kind;
      part.scaling = c.scaling;
      part.factor = c.factor;
      part.noperands = talk.n();
      part.nresults = 1;
      part.nelems = (left < c.piece ? left : c.piece) / bytes_of_element(c.kind);
      for (int k = 0; k < talk.n(); ++k) part.operands[k] = bytes_at(c.source[k], at);
      part.results[0] = bytes_at(c.dest, at);
    }
    threads::sync_block();
    await_piece(talk, c, piece, *number);
    reduce(part, threads::thread_in_row(), threads::row_size());
    threads::sync_block();
    if (threads::thread_in_row() == 0) {
      portable::release_fence();  // the piece before its counter
      portable::store_fenced(c.done + piece, *number);
    }
  }
  meet_last(talk, Did::load);
  talk.close(c.dest);
}

}  // namespace railshmem::cuda::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Collectives between nodes that go piece by piece, for consumers and producers that run at the same time.
#pragma once

#include "src/stream/coll.h"

namespace railshmem {

/// Counters of pieces, in the memory of GPUs: shmemx_fcollectmem_pieces_on_stream and
/// shmemx_reducescatter_pieces_on_stream say what they count.
struct PieceCounters {
  size_t piece_nbytes = 0;
  uint64_t* raised = nullptr;       ///< by this PE, and `arrived` also by its node's other members
  const uint64_t* ready = nullptr;  ///< raised by producers; null in an all-gather
};

/// An all-gather or a reduce-scatter. The members tell each other whether the buffers and counters that others touch
/// lie at one symmetric address; if not, ends the job with a message.
void run_piece_call(const Coll& coll, const PieceCounters& pieces) noexcept;

}  // namespace railshmem

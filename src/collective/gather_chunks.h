// SPDX-License-Identifier: BSD-3-Clause
// fcollect over several nodes, in chunks.
#pragma once

#include "src/collective/blocks_node.h"

namespace railshmem {

/// Member i of a node exchanges blocks with member i of every other node and passes each chunk on to its node when the
/// chunk arrives; the own block goes round the node meanwhile. Touches a member's dest only when that member has come.
/// `dest` must be mapped within each node. For blocks that are meant for all (Blocks::step 0).
void blocks_by_chunks(const Blocks& blocks) noexcept;

/// Consumers of a gather, who want to know of every piece. `arrived` and `number` are as in Arrivals.
struct PieceConsumers {
  size_t piece_nbytes;
  uint64_t* arrived;
  const uint64_t* number;

  size_t pieces_of(size_t nbytes) const noexcept { return (nbytes + piece_nbytes - 1) / piece_nbytes; }
};
/// blocks_by_chunks() in chunks of a piece. `arrived`, too, must be mapped within each node.
void pieces_by_chunks(const Blocks& blocks, const PieceConsumers& consumers) noexcept;

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Blocks from every member to every other, who keeps each at the place of its sender: the ways of fcollect and
// alltoall.
#pragma once

#include "src/collective/operand.h"
#include "src/team/team.h"

namespace railshmem {

/// The blocks of one call.
struct Blocks {
  Team& team;
  const char* function;
  std::byte* dest;
  const std::byte* source;
  size_t nbytes;      ///< of a block
  size_t step;        ///< bytes from one receiver's block to the next in source; 0: one block for all
  size_t place_step;  ///< bytes from one sender's block to the next in dest

  const std::byte* block_for(int rank) const noexcept { return source + static_cast<size_t>(rank) * step; }
  /// Where in dest the block of member `rank` belongs.
  std::byte* place_of(int rank) const noexcept { return dest + static_cast<size_t>(rank) * place_step; }
  void keep_own() const noexcept { copy_own(team.state.device, place_of(team.rank), block_for(team.rank), nbytes); }
};

// ---- where all members share a node (blocks_node.cpp)
// ----------------------------------------------------------------

/// Blocks travel in the lines of their flags: at most as long as ExchangeLine::payload.
void blocks_by_line(const Blocks& blocks) noexcept;
/// Every member copies to all others.
void blocks_by_push(const Blocks& blocks, const Operand& dest) noexcept;
/// Every member copies from all others; nobody returns before its source is read.
void blocks_by_pull(const Blocks& blocks, const Operand& source) noexcept;

// ---- where some members are on other nodes (blocks_network.cpp)
// ------------------------------------------------------

/// Every member sends to every other.
void blocks_by_sending(const Blocks& blocks) noexcept;
/// Every member sends one block, meant for all others, to one member of each node, who passes the block on.
void blocks_by_rails(const Blocks& blocks) noexcept;

// ---- short blocks, with one message from each node to each other (blocks_gathered.cpp)
// -------------------------------

/// Every pair of nodes has a carrier on each side. Members copy their blocks for the other node to the carrier of their
/// node, who sends them all at once to the carrier there, from whom the receivers fetch them. The blocks pass through
/// the team's area only, so `dest` and `source` may be any memory of this PE, and no member touches the memory of
/// another one that has not come.
/// Returns false, on all members, and nothing has happened, where the blocks do not fit into the area or every node has
/// one member.
bool blocks_by_gathering(const Blocks& blocks) noexcept;

// ---- one block for all over several nodes, in chunks (blocks_chunks.cpp)
// ---------------------------------------------

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

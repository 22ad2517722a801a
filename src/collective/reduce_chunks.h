// SPDX-License-Identifier: BSD-3-Clause
// Reductions over several nodes in chunks: all members' rails carry a share, and each step of a chunk begins when it
// can.
#pragma once

#include "src/collective/producers.h"
#include "src/collective/reduction.h"

namespace railshmem {

// Every share of the vector has an owner. On each other node one member combines its node's operands of the share and
// sends them to the owner, the farthest node first; the owner combines the nodes' results in node order. Nobody touches
// the memory of a member that has not come.
//
// The functions return false, on all members, and nothing happened, where the vector cannot go in chunks: on one node,
// where members of a node do not reach each other's memory, where a member has no room for chunks, or where no kernel
// computes with such elements.

/// All members get the whole result: the owner sends each finished chunk to one member of every other node, who passes
/// the chunk on. dest may be source.
bool reduce_by_chunks(Team& team, const Reduction& job) noexcept;

/// Producers that write source piece by piece meanwhile, and consumers who want to know which pieces of dest are there.
struct PieceProducers {
  Producers& producers;
  size_t piece_nbytes;
  uint64_t* done;  ///< a counter for each piece of dest, in the memory of this PE's GPU; gets the value *number
  const uint64_t* number;
};
/// nelems of the job is of dest; each member owns the part that it wants. dest may lie anywhere, also in source.
/// `pieces`: null where source is complete and nobody asks for parts of dest.
bool deal_by_chunks(Team& team, const Reduction& job, const PieceProducers* pieces = nullptr) noexcept;

/// Memory for results that cannot go to dest yet. Ends the job if none exists.
std::unique_ptr<std::byte[]> room_for(const char* function, size_t nbytes) noexcept;

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Blocks from every member to every other where all members share a node.
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

/// Blocks travel in the lines of their flags: at most as long as ExchangeLine::payload.
void blocks_by_line(const Blocks& blocks) noexcept;
/// Every member copies to all others.
void blocks_by_push(const Blocks& blocks, const Operand& dest) noexcept;
/// Every member copies from all others; nobody returns before its source is read.
void blocks_by_pull(const Blocks& blocks, const Operand& source) noexcept;

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Counters in the memory of GPUs that tell consumers which chunks of an all-gather are there.
#pragma once

#include "src/collective/background.h"
#include "src/collective/operand.h"

namespace railshmem {

/// One counter for each chunk of each member's block, block by block, at one symmetric address on all members. This PE
/// raises its own counters and those of its node's other members, by copies.
class Arrivals {
 public:
  /// Counters get the value *number, which stays as it is until the collective is over. `chunks`: of a block.
  Arrivals(const Team& team, Background& background, uint64_t* counters, const uint64_t* number, size_t chunks) noexcept
      : team_(team),
        background_(background),
        counters_(team.state, counters, static_cast<size_t>(team.size()) * chunks * sizeof(uint64_t)),
        number_(number),
        chunks_(chunks) {}

  /// Behind what was copied to `member` of this node on this lane: the chunk of the block of rank `owner` is there.
  Background::Ticket notify(int member, int owner, size_t chunk, size_t lane) noexcept {
    const size_t at = (static_cast<size_t>(owner) * chunks_ + chunk) * sizeof(uint64_t);
    return background_.copy(counters_.of(team_, member) + at, number_, sizeof(uint64_t), lane);
  }

 private:
  const Team& team_;
  Background& background_;
  const Operand counters_;
  const uint64_t* const number_;
  const size_t chunks_;
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Short operands in the memory of GPUs, reduced by way of the host's: no kernel, so no free multiprocessor, is needed.
#pragma once

#include "src/collective/reduction.h"

namespace railshmem {

inline bool is_short(const Reduction& job) noexcept {
  return job.nbytes() <= TeamAreaLayout::kSlotBytes;
}

/// Runs `algorithm(job)` on a copy of `source_nbytes` of source, at most TeamAreaLayout::kSlotBytes, in this PE's own
/// memory, which also takes the result. For algorithms that reach no operand of another member but by an exchange.
template <class Algorithm>
void reduce_by_host(Team& team, const Reduction& job, size_t source_nbytes, Algorithm&& algorithm) noexcept {
  alignas(64) std::byte operand[TeamAreaLayout::kSlotBytes];
  move_block(team.state.device, operand, job.source, source_nbytes);
  Reduction host = job;
  host.source = host.dest = operand;
  algorithm(host);
  move_block(team.state.device, job.dest, operand, job.nbytes());
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// What PEs send each other in fcollect and alltoall, and whether it came.
#pragma once

#include "perftest/device/context.cuh"

namespace railshmem::perf::gpu {

enum class Pattern : uint8_t { fcollect, alltoall };

/// Block `to` of what a PE sends in an alltoall has a pattern of its own; in fcollect there is one block.
inline int pattern_of(const Context& context, Pattern pattern, int from, int to) {
  return pattern == Pattern::fcollect ? from : from * context.npes + to;
}

inline void fill_blocks(const Context& context, Pattern pattern, char* source, uint64_t block) {
  for (int i = 0; i < (pattern == Pattern::fcollect ? 1 : context.npes); ++i)
    context.fill(source + static_cast<uint64_t>(i) * block, block, pattern_of(context, pattern, context.pe, i));
}

/// Collective.
inline bool check_blocks(Context& context, Pattern pattern, const char* dest, uint64_t block) {
  bool well = true;
  for (int from = 0; from < context.npes; ++from)
    well &= context.matches(dest + static_cast<uint64_t>(from) * block, block,
                            pattern_of(context, pattern, from, context.pe));
  return context.agree(well);
}

}  // namespace railshmem::perf::gpu

// SPDX-License-Identifier: BSD-3-Clause
// Alltoalls: blocks from every member to every other whose elements do not lie side by side.
#pragma once

#include <cstddef>

#include "src/team/team.h"

namespace railshmem {

/// Element i of the block for member r is element (r * nelems + i) * source_step of `source`; it becomes element
/// (rank * nelems + i) * dest_step of `dest` there. Steps are at least 1.
struct SpacedBlocks {
  std::byte* dest;
  const std::byte* source;
  ptrdiff_t dest_step;
  ptrdiff_t source_step;
  size_t element;  ///< bytes
  size_t nelems;
};

void alltoalls(Team& team, const char* function, const SpacedBlocks& blocks) noexcept;

}  // namespace railshmem

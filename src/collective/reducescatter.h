// SPDX-License-Identifier: BSD-3-Clause
// Reductions whose result is dealt out: dest of member i becomes part i of source 0 op source 1 op ... in rank order.
#pragma once

#include "src/collective/reduction.h"

namespace railshmem {

/// nelems of the job is of dest; source has as many for every member. dest may be any part of source. Returns when dest
/// is complete and source may change.
void reducescatter(Team& team, const Reduction& job) noexcept;

}  // namespace railshmem

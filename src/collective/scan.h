// SPDX-License-Identifier: BSD-3-Clause
// Prefix sums over a team, in rank order.
#pragma once

#include "src/collective/reduction.h"

namespace railshmem {

/// Returns when dest is complete and source may change.
void scan(Team& team, const Reduction& job, Scan kind) noexcept;

}  // namespace railshmem

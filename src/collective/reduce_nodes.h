// SPDX-License-Identifier: BSD-3-Clause
// Reductions over several nodes: first within each node, then among their leaders, then out within each node.
#pragma once

#include "src/collective/reduction.h"

namespace railshmem {

void reduce_over_nodes(Team& team, const Reduction& job) noexcept;

}  // namespace railshmem

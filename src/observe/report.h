// SPDX-License-Identifier: BSD-3-Clause
// The table of SHMEM_STATS=1.
#pragma once

#include <string>
#include <vector>

#include "src/observe/counters.h"

namespace railshmem::observe {

/// Heading of the table, and the rows of one PE: only kinds that occurred.
std::string stats_heading();
std::vector<std::string> stats_rows(int pe, const Totals& totals);

}  // namespace railshmem::observe

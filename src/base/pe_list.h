// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace railshmem {

/// "PE 3", "PEs 3 and 7", "PEs 1, 2 and 5", "PEs 1 to 40 and 62"; long lists end in "and 100 more".
std::string pe_list(const std::vector<int>& ascending);

/// "PEs 0 to 3", all that there are; "PE 0 only".
std::string all_pes(int npes);

}  // namespace railshmem

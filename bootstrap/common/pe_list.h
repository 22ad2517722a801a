// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace railshmem {

/// "PE 3", "PE 3 and 7", "PE 1, 2 and 5", "PE 1 to 40 and 62"; long lists end in "and 100 more".
std::string pe_list(const std::vector<int>& ascending);

}  // namespace railshmem

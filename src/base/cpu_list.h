// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include <string>

namespace railshmem {

/// As Linux writes sets of CPUs: "0-3,8". Empty for none.
std::string cpu_list(const cpu_set_t& cpus);

}  // namespace railshmem

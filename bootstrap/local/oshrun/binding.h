// SPDX-License-Identifier: BSD-3-Clause
// Which CPUs the PEs of a host get.
#pragma once

#include <sched.h>

#include <string>
#include <vector>

#include "bootstrap/local/oshrun/spawn.h"

namespace railshmem::oshrun {

/// A set of CPUs for each of `npes` PEs, all of them within `allowed`; none where PEs are not bound. With Bind::core
/// they are disjoint sets of whole cores, as large as the cores allow, so that a PE's proxy and other threads find room
/// beside it. Throws Error where Bind::core or Bind::numa was asked for and cannot be had. `machine`: hwloc's
/// description of another one, like "pack:2 core:4 pu:2"; empty: this machine.
std::vector<cpu_set_t> bindings(Bind bind, int npes, const cpu_set_t& allowed, const std::string& machine = {});

}  // namespace railshmem::oshrun

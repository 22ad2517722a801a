// SPDX-License-Identifier: BSD-3-Clause
// Where the proxy threads run: SHMEM_PROXY_AFFINITY.
#pragma once

#include <sched.h>

#include <cstddef>
#include <string>

#include "src/base/env_types.h"
#include "src/plugin/network.h"

namespace railshmem {

/// What places a PE's proxy threads beside the wish.
struct ProxyPlace {
  size_t host_slot;      ///< the PE's number on its host
  cpu_set_t cpus;        ///< that the PE may run on
  std::string gpu = {};  ///< bus address; empty before the program has chosen its GPU
};

/// Binds the threads, if there is something to bind it to now, and says so in a line for SHMEM_INFO=1. Lists are obeyed
/// at the start of the network, and `auto` when the GPU is known. Throws Error where the system refuses a list.
std::string place_proxy(Network& network, const CpuWish& wish, const ProxyPlace& place);

}  // namespace railshmem

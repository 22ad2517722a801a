// SPDX-License-Identifier: BSD-3-Clause
// What shmem_info can tell about the machine; each part is JSON, the text form is made from it.
#pragma once

#include <nlohmann/json.hpp>

namespace railshmem::info {

using Json = nlohmann::ordered_json;

/// libfabric's version and, per provider, its domains (network interfaces), capabilities and limits.
Json providers();

/// CPUs, NUMA nodes and network interfaces with the node they are near to.
Json topology();

}  // namespace railshmem::info

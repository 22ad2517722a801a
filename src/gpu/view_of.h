// SPDX-License-Identifier: BSD-3-Clause
// The job as kernels of this PE see it.
#pragma once

#include "include/shmem/detail/world.h"
#include "src/gpu/device_memory.h"
#include "src/topology/node_layout.h"

namespace railshmem {

struct ViewConfig {
  int pe = 0;
  int npes = 1;
  bool has_network = false;  ///< some PE is reached by the proxy only
  bool check = false;        ///< SHMEM_CHECK
  uint64_t timeout_ns = 0;   ///< of waits
  const std::byte* host_heap = nullptr;
  size_t host_heap_nbytes = 0;
};

/// Without channels, tables and control memory, which others add. `memory` must be attached.
WorldView view_of(const DeviceMemory& memory, const NodeLayout& layout, const ViewConfig& config);

}  // namespace railshmem

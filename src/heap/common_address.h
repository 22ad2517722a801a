// SPDX-License-Identifier: BSD-3-Clause
// One address for the heaps of all PEs of a job, as users of other libraries expect it.
#pragma once

#include <cstddef>
#include <string>

#include "src/heap/node_arena.h"
#include "src/plugin/bootstrap.h"

namespace railshmem {

/// The arena of a node, and whether the heap of every PE of the job begins at one address.
struct PlacedArena {
  NodeArena arena;
  std::string place;  ///< for SHMEM_INFO: "at 0x200000000000 on all PEs", or why not
};

/// Collective. Each PE reserves its arena such that its own slot begins at the same address as that of every other PE,
/// on all nodes. The addresses of peers differ between PEs then: base() + slot * stride, and base() is this address
/// minus my_slot * stride. Where none of a few addresses is free on all PEs, and with share_one_process, the system
/// chooses an address on each PE.
PlacedArena place_arena(Bootstrap& bootstrap, size_t nslots, size_t my_slot, size_t stride, bool share_one_process);

}  // namespace railshmem

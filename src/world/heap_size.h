// SPDX-License-Identifier: BSD-3-Clause
// How large the symmetric heap is where SHMEM_SYMMETRIC_SIZE leaves that to the library.
#pragma once

#include <string>
#include <vector>

#include "src/base/env.h"
#include "src/world/identity.h"

namespace railshmem {

/// Bytes of memory that the PEs of this host may divide among them for automatic heaps. 0 where a large heap has a
/// cost: with huge pages of a pool, which are taken when they are mapped, and under a limit on address space or file
/// sizes.
uint64_t memory_for_heaps(const Env& env);

struct HeapSize {
  size_t nbytes = 0;
  std::string reason;  ///< for SHMEM_INFO
};

/// All PEs get one size. Pages come into being when they are used, so a heap of half the memory costs addresses only.
/// But a network may pin all registered memory, so `network` (some peer may need one) keeps the heap small.
HeapSize choose_heap_size(const Env& env, const std::vector<Identity>& identities, bool network);

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// How large the symmetric heap is where SHMEM_SYMMETRIC_SIZE leaves that to the library.
#pragma once

#include <string>
#include <vector>

#include "src/base/env.h"
#include "src/world/identity.h"

namespace railshmem {

/// Bytes of memory that the PEs of this host may divide among them for automatic heaps; 0 where a large heap would cost
/// something: with huge pages of a pool, which are taken when they are mapped, and with a limit on address space or
/// file sizes.
uint64_t memory_for_heaps(const Env& env);

struct HeapSize {
  size_t nbytes = 0;
  std::string reason;  ///< for SHMEM_INFO
};

/// The same on every PE. Pages come into being when they are used, so a heap of half the memory costs addresses only;
/// but a network may pin all that is registered with it, so `network` (some peer may need it) keeps the heap small.
HeapSize choose_heap_size(const Env& env, const std::vector<Identity>& identities, bool network);

}  // namespace railshmem

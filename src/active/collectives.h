// SPDX-License-Identifier: BSD-3-Clause
// The collectives of active sets, for any set, over node and network. Their only shared state is pSync. The set has
// been checked; sizes are in bytes. `dest` must be free for writing on all members before the first member enters.
#pragma once

#include "src/active/active_set.h"
#include "src/collective/collectives.h"
#include "src/collective/reduction.h"

namespace railshmem {

/// Returns when every member has entered.
void active_sync(const ActiveSet& set) noexcept;

/// Copies `source` of member `root` to `dest` of all others.
void active_broadcast(const ActiveSet& set, void* dest, const void* source, size_t nbytes, int root) noexcept;

/// Gathers nbytes from each member into every dest, in the order of ranks. In fcollect all members pass equal nbytes.
void active_fcollect(const ActiveSet& set, void* dest, const void* source, size_t nbytes) noexcept;
void active_collect(const ActiveSet& set, void* dest, const void* source, size_t nbytes) noexcept;

/// Sends block r of `source` to member r, whose dest has a place for the block of every sender.
void active_alltoall(const ActiveSet& set, void* dest, const void* source, size_t nbytes) noexcept;

/// An active_alltoall() whose elements within a block lie apart.
void active_alltoalls(const ActiveSet& set, const SpacedBlocks& blocks) noexcept;

/// Reduces element by element over all members. dest may be source; nelems may be 0.
void active_reduce(const ActiveSet& set, const Reduction& job) noexcept;

}  // namespace railshmem

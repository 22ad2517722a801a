// SPDX-License-Identifier: BSD-3-Clause
// The collectives of active sets, for any set, over node and network, on pSync alone. The set has been checked; sizes
// are in bytes. The program keeps `dest` free for writing from before the first member enters.
#pragma once

#include "src/active/active_set.h"
#include "src/collective/alltoalls.h"
#include "src/collective/reduction.h"

namespace railshmem {

/// Returns when every member has entered.
void active_sync(const ActiveSet& set) noexcept;

/// `source` of member `root` to `dest` of all others.
void active_broadcast(const ActiveSet& set, void* dest, const void* source, size_t nbytes, int root) noexcept;

/// nbytes of each member, in the order of ranks; in fcollect the same number from all.
void active_fcollect(const ActiveSet& set, void* dest, const void* source, size_t nbytes) noexcept;
void active_collect(const ActiveSet& set, void* dest, const void* source, size_t nbytes) noexcept;

/// Block r of `source` goes to member r, who keeps it as block of the sender.
void active_alltoall(const ActiveSet& set, void* dest, const void* source, size_t nbytes) noexcept;

/// The same with blocks of elements that lie apart.
void active_alltoalls(const ActiveSet& set, const SpacedBlocks& blocks) noexcept;

/// Element by element over all members; dest may be source. nelems may be 0.
void active_reduce(const ActiveSet& set, const Reduction& job) noexcept;

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// The collectives of a team, as the rest of the library calls them. All members make the call. Where nothing else is
// said, a function returns when its dest is complete; its source may change from then on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/team/team.h"

namespace railshmem {

struct Reduction;
enum class Scan : uint8_t;

/// Orders this PE's stores before the members' return; completes no remote operation (OpenSHMEM 1.6 section 9.10).
void sync(Team& team, const char* function) noexcept;

enum class RootDest : uint8_t { written, untouched };  ///< the team form writes dest on the root, the old form does not

/// nbytes of `source` on member `root` (which must exist) to `dest` on all.
void broadcast(Team& team, const char* function, void* dest, const void* source, size_t nbytes, int root,
               RootDest on_root = RootDest::written) noexcept;

/// The members' data one behind the other, each as long as its member says: nbytes of this member. The sum over the
/// members must fit `dest`.
void collect(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept;

/// nbytes of each member, in the order of ranks.
void fcollect(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept;

/// Block r of `source`, nbytes long, goes to member r, who keeps it at the place of the sender.
void alltoall(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept;

// The standard lets a collective write to a member that has not come yet. These two wait for it, as streams need it.
void fcollect_when_come(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept;
void alltoall_when_come(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept;

/// Element i of the block for member r is element (r * nelems + i) * source_step of `source`; it becomes element
/// (rank * nelems + i) * dest_step of `dest` there. Steps are at least 1.
struct SpacedBlocks {
  std::byte* dest;
  const std::byte* source;
  ptrdiff_t dest_step;
  ptrdiff_t source_step;
  size_t element;  ///< bytes
  size_t nelems;
};

/// alltoall of blocks whose elements do not lie side by side.
void alltoalls(Team& team, const char* function, const SpacedBlocks& blocks) noexcept;

/// dest of every member becomes source 0 op source 1 op ... On one node operands meet in rank order, over several nodes
/// in rank order within each node and then in the order of nodes (recursive doubling: as its tree has it).
void reduce(Team& team, const Reduction& job) noexcept;

/// dest of member i becomes part i of source 0 op source 1 op ... in rank order. nelems of the job is of dest; source
/// has as many for every member. dest may be any part of source.
void reducescatter(Team& team, const Reduction& job) noexcept;

/// Prefix sums in rank order.
void scan(Team& team, const Reduction& job, Scan kind) noexcept;

}  // namespace railshmem

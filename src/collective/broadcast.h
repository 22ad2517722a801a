// SPDX-License-Identifier: BSD-3-Clause
// Broadcast: one member's data to all members.
#pragma once

#include "src/team/team.h"

namespace railshmem {

enum class RootDest : uint8_t { written, untouched };  ///< the team form writes dest on the root, the old form does not

/// nbytes of `source` on member `root` (which must exist) to `dest` on all.
void broadcast(Team& team, const char* function, void* dest, const void* source, size_t nbytes, int root,
               RootDest on_root = RootDest::written) noexcept;

}  // namespace railshmem

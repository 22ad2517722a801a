// SPDX-License-Identifier: BSD-3-Clause
// fcollect and alltoall: every member has a block for every other, who keeps it at the place of the sender.
#pragma once

#include "src/plan/choice.h"
#include "src/team/team.h"

namespace railshmem {

/// nbytes of each member, in the order of ranks.
void fcollect(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept;

/// Block r of `source`, nbytes long, goes to member r.
void alltoall(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept;

}  // namespace railshmem

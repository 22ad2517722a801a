// SPDX-License-Identifier: BSD-3-Clause
// Collect: the members' data one behind the other, each as long as its member says.
#pragma once

#include "src/team/team.h"

namespace railshmem {

/// nbytes of this member; the sum over the members must fit `dest`.
void collect(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept;

}  // namespace railshmem

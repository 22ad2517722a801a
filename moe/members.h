// SPDX-License-Identifier: BSD-3-Clause
// The members of a team, and their memory as this PE sees it.
#pragma once

#include <shmem.h>

#include "moe/kernels/call.h"

namespace railshmem::moe {

/// Members of a team on one node that map each other's GPU memory. Throws Error for any other team.
int members_of(shmem_team_t team);

/// Throws Error where the workspace is smaller than `needed`, which `function` gives, or not symmetric.
Members members_of(shmem_team_t team, const Shape& shape, void* workspace, size_t nbytes, uint64_t needed,
                   const char* function);

/// Sets the words at the beginning of the workspace to 0; the GPU has done so when it returns.
void clear_words(void* workspace, uint64_t nbytes);

}  // namespace railshmem::moe

// SPDX-License-Identifier: BSD-3-Clause
// What a program may pass. All functions throw Error that names the value and what to do.
#pragma once

#include <shmemx_moe.h>

#include "moe/kernels/call.h"

namespace railshmem::moe {

/// The caller's configuration, which may be of an older header.
shmemx_moe_config_t checked(const shmemx_moe_config_t* config, int n);
Shape shape_of(const shmemx_moe_config_t& config, int n);
/// Members of a team on one node that map each other's GPU memory.
int members_of(shmem_team_t team);

/// That there is a handle.
void check(const shmemx_moe_dispatch_t* dispatch);
void check(const shmemx_moe_combine_t* combine);
/// What the call reads and writes. `tokens`: of the dispatch before.
void check_buffers(const shmemx_moe_dispatch_t& dispatch, const shmemx_moe_config_t& config);
void check_buffers(const shmemx_moe_combine_t& combine, const shmemx_moe_config_t& config, int tokens);

}  // namespace railshmem::moe

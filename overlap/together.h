// SPDX-License-Identifier: BSD-3-Clause
// Steps that the members of a team take all or none, by the public API.
#pragma once

#include <shmem.h>
#include <shmemx.h>

#include <utility>

#include "src/base/together.h"

namespace railshmem::overlap {

/// Collective over the team, which must be one of this PE's. Returns when all members have taken `step`. Throws Error
/// on all of them where it threw on one.
template <class Step>
void together(shmem_team_t team, Step&& step) {
  railshmem::together(std::forward<Step>(step), [team](bool well) { return shmemx_team_agree(team, well) != 0; });
}

}  // namespace railshmem::overlap

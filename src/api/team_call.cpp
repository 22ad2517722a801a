// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/team_call.h"

#include "src/base/log.h"

namespace railshmem {

void warn_bad_team(const char* function, shmem_team_t handle) noexcept {
  log_warn("%s: team handle %p is no team that this PE belongs to; the call does nothing and returns %d", function,
           static_cast<void*>(handle), kBadTeam);
}

void die_bad_member(const char* function, const Team& team, const char* argument, int rank) noexcept {
  die("%s: %s is %d, but the team has PEs 0 to %d; PEs are counted within the team", function, argument, rank,
      team.size() - 1);
}

}  // namespace railshmem

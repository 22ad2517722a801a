// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/team_call.h"

#include <cstdio>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/pe_list.h"
#include "src/check/call_site.h"
#include "src/rma/probe.h"

namespace railshmem {

void warn_bad_team(const char* function, shmem_team_t handle, const char* result) noexcept {
  char which[128] = "the team is SHMEM_TEAM_INVALID, and only members of a team may make this call";
  if (handle != SHMEM_TEAM_INVALID)
    std::snprintf(which, sizeof which, "team handle %p is no team that this PE belongs to, or one that was destroyed",
                  static_cast<void*>(handle));
  if (checking(job::world(function).state()))
    die("%s: %s; called at %s", function, which, check::find_call_site().data());
  log_warn("%s: %s; the call does nothing and returns %s", function, which, result);
}

Team& must_find_team(const char* function, shmem_team_t handle) {
  Team* const team = job::world(function).teams().find(handle);
  if (!team)
    throw Error(text("team %p is no team of this PE; pass SHMEM_TEAM_WORLD or what shmem_team_split_... gave",
                     static_cast<const void*>(handle)));
  return *team;
}

void die_bad_member(const char* function, const Team& team, const char* argument, int rank) noexcept {
  die("%s: %s is %d, but the team has %s; PEs are counted within the team", function, argument, rank,
      all_pes(team.size()).c_str());
}

}  // namespace railshmem

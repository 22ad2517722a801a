// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/team.h"

#include <map>

#include "python/src/errors.h"
#include "python/src/state.h"
#include "python/src/waiting.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

std::map<shmem_team_t, std::string> g_live_teams;  ///< teams of splits that were not destroyed; the GIL protects it

}  // namespace

Team::Team(shmem_team_t handle, std::string name) : handle_(handle), run_(run_number()), name_(std::move(name)) {}

Team Team::world() {
  require_running("railshmem.Team.world");
  return {SHMEM_TEAM_WORLD, "world"};
}

Team Team::shared() {
  require_running("railshmem.Team.shared");
  return {SHMEM_TEAM_SHARED, "shared"};
}

uint64_t team_unique_id() {
  constexpr auto kFunction = "railshmem.Team.from_group";
  require_running(kFunction);
  uint64_t id = 0;
  if (shmemx_team_get_uniqueid(&id) != 0) state_error(text(kFunction, ": the library made no id for the team"));
  return id;
}

Team Team::of_id(uint64_t id, int npes, int pe) {
  constexpr auto kFunction = "railshmem.Team.from_group";
  require_running(kFunction);
  shmem_team_t made = SHMEM_TEAM_INVALID;
  int status = 0;
  {
    const Waiting waits(kFunction);
    status = shmemx_team_init(id, npes, pe, nullptr, 0, &made);
  }
  if (status != 0 || made == SHMEM_TEAM_INVALID)
    state_error(text(kFunction, ": the library made no team of the group's ", npes, " processes; its message on ",
                     "standard error says why. PEs of a team are in ascending or descending order, or at one stride"));
  const std::string name = text("from_group(", npes, " processes)");
  g_live_teams[made] = name;
  return {made, name};
}

shmem_team_t Team::use(const char* function) const {
  require_running(function);
  if (run_ != run_number())
    state_error(text(function, ": the team ", name_, " is of the time before finalize(); make a new one"));
  if (destroyed_ || (handle_ != SHMEM_TEAM_WORLD && handle_ != SHMEM_TEAM_SHARED && !g_live_teams.contains(handle_)))
    state_error(text(function, ": the team ", name_, " was destroyed"));
  return handle_;
}

std::optional<Team> Team::split_strided(int start, int stride, int size) const {
  constexpr auto kFunction = "railshmem.Team.split_strided";
  const shmem_team_t parent = use(kFunction);
  const long long npes = shmem_team_n_pes(parent);
  const long long last = start + static_cast<long long>(stride) * (size - 1LL);
  if (size < 1 || start < 0 || start >= npes || last < 0 || last >= npes || (stride == 0 && size != 1))
    value_error(text(kFunction, ": start ", start, ", stride ", stride, " and size ", size,
                     " name members that the team ", name_, " of ", npes, " PEs does not have, or none"));
  shmem_team_t made = SHMEM_TEAM_INVALID;
  int status = 0;
  {
    const Waiting waits(kFunction);
    status = shmem_team_split_strided(parent, start, stride, size, nullptr, 0, &made);
  }
  if (status != 0) state_error(text(kFunction, ": the library made no team; its message on standard error says why"));
  if (made == SHMEM_TEAM_INVALID) return std::nullopt;
  const std::string name = text(name_, ".split_strided(", start, ", ", stride, ", ", size, ")");
  g_live_teams[made] = name;
  return Team(made, name);
}

std::pair<Team, Team> Team::split_2d(int xrange) const {
  constexpr auto kFunction = "railshmem.Team.split_2d";
  const shmem_team_t parent = use(kFunction);
  if (xrange < 1) value_error(text(kFunction, ": xrange is ", xrange, "; it must be a number of PEs, 1 or more"));
  shmem_team_t x = SHMEM_TEAM_INVALID, y = SHMEM_TEAM_INVALID;
  int status = 0;
  {
    const Waiting waits(kFunction);
    status = shmem_team_split_2d(parent, xrange, nullptr, 0, &x, nullptr, 0, &y);
  }
  if (status != 0) state_error(text(kFunction, ": the library made no teams; its message on standard error says why"));
  const std::string name = text(name_, ".split_2d(", xrange, ")");
  g_live_teams[x] = name + "[0]";
  g_live_teams[y] = name + "[1]";
  return {Team(x, g_live_teams[x]), Team(y, g_live_teams[y])};
}

int Team::my_pe() const {
  return shmem_team_my_pe(use("railshmem.Team.my_pe"));
}

int Team::n_pes() const {
  return shmem_team_n_pes(use("railshmem.Team.n_pes"));
}

std::optional<int> Team::translate(int pe, const Team& other) const {
  constexpr auto kFunction = "railshmem.Team.translate";
  const shmem_team_t mine = use(kFunction);
  const int npes = shmem_team_n_pes(mine);
  if (pe < 0 || pe >= npes)
    value_error(text(kFunction, ": pe is ", pe, ", and the team ", name_, " has the members 0 to ", npes - 1));
  const int there = shmem_team_translate_pe(mine, pe, other.use(kFunction));
  return there < 0 ? std::nullopt : std::optional(there);
}

void Team::sync() const {
  const shmem_team_t team = use("railshmem.Team.sync");
  const Waiting waits("railshmem.Team.sync");
  shmem_team_sync(team);
}

void Team::destroy() {
  constexpr auto kFunction = "railshmem.Team.destroy";
  const shmem_team_t team = use(kFunction);
  if (team == SHMEM_TEAM_WORLD || team == SHMEM_TEAM_SHARED)
    value_error(text(kFunction, ": the team ", name_, " is predefined; only teams of a split are destroyed"));
  destroyed_ = true;
  g_live_teams.erase(team);
  const Waiting waits(kFunction);
  shmem_team_destroy(team);
}

std::string Team::describe() const {
  return text("<railshmem.Team ", name_, destroyed_ ? ", destroyed>" : ">");
}

std::vector<std::string> forget_teams() {
  std::vector<std::string> names;
  for (const auto& [handle, name] : g_live_teams) names.push_back("the team " + name);
  g_live_teams.clear();
  return names;
}

}  // namespace railshmem::python

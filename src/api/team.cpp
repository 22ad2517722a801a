// SPDX-License-Identifier: BSD-3-Clause
// Teams: every name of include/shmem/team.h.
#include "shmem/team.h"

#include "shmemx.h"
#include "src/api/entry.h"
#include "src/api/team_call.h"
#include "src/base/error.h"
#include "src/base/guard.h"
#include "src/base/log.h"
#include "src/check/collective.h"
#include "src/collective/agree.h"
#include "src/collective/collectives.h"
#include "src/rma/probe.h"

using namespace railshmem;

namespace {

void need(const char* function, const char* argument, const void* pointer) noexcept {
  if (!pointer) die("%s: %s is NULL; pass the address of a variable", function, argument);
}

void check_config(const char* function, const shmem_team_config_t* config, long mask) noexcept {
  if (mask != 0 && !config)
    die("%s: the configuration is NULL but the mask is 0x%lx; pass a configuration, or 0", function, mask);
}

/// A split either ends well or leaves no trace: Error and a lack of memory are failures of the call.
bool try_split(Team& parent, const char* function, std::span<TeamPlan> plans) noexcept {
  try {
    return job::world(function).teams().split(parent, function, plans);
  } catch (const std::exception& e) {
    // This PE alone may know, in the middle of a collective call.
    die("%s: %s", function, e.what());
  }
}

shmem_team_t handle_of(const Team* team) noexcept {
  return team ? team->handle() : SHMEM_TEAM_INVALID;
}

}  // namespace

extern "C" {

int pshmem_team_my_pe(shmem_team_t team) {
  const Team* t = find_team_or_none("shmem_team_my_pe", team, "-1");
  return t ? t->rank : -1;
}

int pshmem_team_n_pes(shmem_team_t team) {
  const Team* t = find_team_or_none("shmem_team_n_pes", team, "-1");
  return t ? t->size() : -1;
}

int pshmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t* config) {
  const Team* t = find_team_or_none("shmem_team_get_config", team, "1");
  if (!t) return 1;
  check_config("shmem_team_get_config", config, config_mask);
  if ((config_mask & SHMEM_TEAM_NUM_CONTEXTS) != 0) config->num_contexts = t->config.num_contexts;
  return 0;
}

int pshmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team) {
  const Team* from = find_team_or_none("shmem_team_translate_pe", src_team, "-1");
  const Team* to = find_team_or_none("shmem_team_translate_pe", dest_team, "-1");
  if (!from || !to || src_pe < 0 || src_pe >= from->size()) return -1;
  return to->pes.rank(from->pes.pe(src_pe));
}

void* pshmem_team_ptr(shmem_team_t team, const void* dest, int pe) {
  const Team* t = find_team_or_none("shmem_team_ptr", team, "NULL");
  return t && pe >= 0 && pe < t->size() ? pshmem_ptr(dest, t->pes.pe(pe)) : nullptr;
}

int pshmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                              const shmem_team_config_t* config, long config_mask, shmem_team_t* new_team) {
  static constexpr char kName[] = "shmem_team_split_strided";
  need(kName, "new_team", new_team);
  *new_team = SHMEM_TEAM_INVALID;
  Team* parent = find_team_or_none(kName, parent_team, "1");
  if (!parent) return 1;
  PeState& state = parent->state;
  RAILSHMEM_PROBE_PLAIN(collective, kName);
  if (checking(state)) {
    check::CollectiveCall call(state, kName);
    check::must_agree(*parent, call.number("start", start).number("stride", stride).number("size", size));
  }
  check_config(kName, config, config_mask);
  TeamPlan plans[] = {{{start, stride, size}, config, config_mask}};
  if (!is_valid(plans[0].ranks, parent->size()) || !try_split(*parent, kName, plans)) return 1;
  *new_team = handle_of(plans[0].made);
  return 0;
}

int pshmem_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t* xaxis_config, long xaxis_mask,
                         shmem_team_t* xaxis_team, const shmem_team_config_t* yaxis_config, long yaxis_mask,
                         shmem_team_t* yaxis_team) {
  static constexpr char kName[] = "shmem_team_split_2d";
  need(kName, "xaxis_team", xaxis_team);
  need(kName, "yaxis_team", yaxis_team);
  *xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
  Team* parent = find_team_or_none(kName, parent_team, "1");
  if (!parent) return 1;
  PeState& state = parent->state;
  RAILSHMEM_PROBE_PLAIN(collective, kName);
  if (checking(state)) {
    check::CollectiveCall call(state, kName);
    check::must_agree(*parent, call.number("xrange", xrange));
  }
  if (xrange < 1) return 1;
  check_config(kName, xaxis_config, xaxis_mask);
  check_config(kName, yaxis_config, yaxis_mask);
  const Grid grid(parent->size(), xrange);
  TeamPlan plans[] = {{grid.row_of(parent->rank), xaxis_config, xaxis_mask},
                      {grid.column_of(parent->rank), yaxis_config, yaxis_mask}};
  if (!try_split(*parent, kName, plans)) return 1;
  *xaxis_team = handle_of(plans[0].made);
  *yaxis_team = handle_of(plans[1].made);
  return 0;
}

int shmemx_team_get_uniqueid(uint64_t* uniqueid) {
  static constexpr char kName[] = "shmemx_team_get_uniqueid";
  World& world = job::world(kName);
  return guard(kName, [&] {
    if (!uniqueid) throw Error("uniqueid is NULL; pass the address of a variable");
    *uniqueid = world.teams().new_id();
  });
}

int shmemx_team_init(uint64_t uniqueid, int npes, int pe, const shmem_team_config_t* config, long config_mask,
                     shmem_team_t* new_team) {
  static constexpr char kName[] = "shmemx_team_init";
  need(kName, "new_team", new_team);
  *new_team = SHMEM_TEAM_INVALID;
  World& world = job::world(kName);
  PeState& state = world.state();
  RAILSHMEM_PROBE_PLAIN(collective, kName);
  check_config(kName, config, config_mask);
  return guard(kName, [&] {
    if (!world.teams().is_id(uniqueid))
      throw Error(text("0x%llx is not the id of a team; pass one that shmemx_team_get_uniqueid returned in this job",
                       static_cast<unsigned long long>(uniqueid)));
    if (npes < 1 || npes > state.npes || pe < 0 || pe >= npes)
      throw Error(
          text("member %d of %d: a team of this job has 1 to %d members, numbered from 0", pe, npes, state.npes));
    *new_team = handle_of(world.teams().gather(kName, uniqueid, npes, pe, config, config_mask));
    if (*new_team == SHMEM_TEAM_INVALID)
      throw Error("no team was made; raise SHMEM_TEAMS_MAX unless a warning names another reason");
  });
}

void pshmem_team_destroy(shmem_team_t team) {
  Team* t = find_team_or_none("shmem_team_destroy", team, "nothing");
  if (!t) return;
  if (t->slot < Teams::kReserved) {
    log_warn("shmem_team_destroy: a predefined team stays as it is");
    return;
  }
  PeState& state = t->state;
  RAILSHMEM_PROBE_PLAIN(collective, "shmem_team_destroy");
  if (checking(state)) check::must_agree(*t, {state, "shmem_team_destroy"});
  job::world("shmem_team_destroy").teams().destroy(*t, "shmem_team_destroy");
}

int pshmem_team_sync(shmem_team_t team) {
  Team* const t = find_team("shmem_team_sync", team);
  if (!t) return kBadTeam;
  PeState& state = t->state;
  RAILSHMEM_PROBE_PLAIN(barrier, "shmem_team_sync");
  if (checking(state)) check::must_agree(*t, {state, "shmem_team_sync"});
  sync(*t, "shmem_team_sync");
  return 0;
}

int shmemx_team_agree(shmem_team_t team, int value) {
  static constexpr char kName[] = "shmemx_team_agree";
  Team* const t = find_team(kName, team, "0");
  if (!t) return 0;
  PeState& state = t->state;
  RAILSHMEM_PROBE_PLAIN(collective, kName);
  if (checking(state)) check::must_agree(*t, {state, kName});
  return all_agree(*t, kName, value != 0) ? 1 : 0;
}
}

RAILSHMEM_ALIAS(team_my_pe);
RAILSHMEM_ALIAS(team_n_pes);
RAILSHMEM_ALIAS(team_get_config);
RAILSHMEM_ALIAS(team_translate_pe);
RAILSHMEM_ALIAS(team_ptr);
RAILSHMEM_ALIAS(team_split_strided);
RAILSHMEM_ALIAS(team_split_2d);
RAILSHMEM_ALIAS(team_destroy);
RAILSHMEM_ALIAS(team_sync);

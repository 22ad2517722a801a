// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/collective.h"
#include "src/api/probe.h"
#include "src/api/team_call.h"
#include "src/check/collective.h"
#include "src/collective/collectives.h"
#include "src/collective/reduction.h"
#include "src/rma/put_get.h"

namespace railshmem {
namespace {

/// Checks what every algorithm takes for granted, then runs `algorithm(team, job)`.
template <class Algorithm>
int run(const Reducer& call, shmem_team_t handle, void* dest, const void* source, size_t nelems,
        Algorithm&& algorithm) noexcept {
  Team* const team = find_team(call.function, handle);
  if (!team) return kBadTeam;
  PeState& state = team->state;
  const size_t nbytes = total_bytes(call.function, nelems, call.element, state.me);
  RAILSHMEM_PROBE_PLAIN(collective, call.function, nbytes);
  if (checking(state)) {
    check::CollectiveCall agreed(state, call.function);
    check::check_collective(*team, agreed.number("nelems", static_cast<long long>(nelems)), {"dest", dest, nbytes},
                            {"source", source, nbytes}, check::InPlace::allowed);
  }
  if (nelems == 0) return 0;
  check_local(call.function, "dest", dest, nbytes, state.me);
  check_local(call.function, "source", source, nbytes, state.me);
  locate(state, call.function, dest, nbytes, state.me);
  locate(state, call.function, source, nbytes, state.me);
  algorithm(*team, Reduction{call.function, find_combine(call.op, call.kind), call.element, nelems,
                             static_cast<std::byte*>(dest), static_cast<const std::byte*>(source), call.op, call.kind});
  return 0;
}

}  // namespace

int reduce_call(const Reducer& call, shmem_team_t team, void* dest, const void* source, size_t nelems) noexcept {
  return run(call, team, dest, source, nelems, [](Team& t, const Reduction& job) noexcept { reduce(t, job); });
}

int scan_call(const Reducer& call, Scan kind, shmem_team_t team, void* dest, const void* source,
              size_t nelems) noexcept {
  return run(call, team, dest, source, nelems, [=](Team& t, const Reduction& job) noexcept { scan(t, job, kind); });
}

}  // namespace railshmem

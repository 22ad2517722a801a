// SPDX-License-Identifier: BSD-3-Clause
// Collectives of teams that compute.
#include "src/api/collective.h"
#include "src/api/team_call.h"
#include "src/check/collective.h"
#include "src/collective/collectives.h"
#include "src/collective/reduction.h"
#include "src/rma/probe.h"
#include "src/rma/put_get.h"

namespace railshmem {
namespace {

/// What a member's dest holds: the result of its own, or the part of a reduce-scatter. Then source has as many elements
/// for every member.
enum class Dest : uint8_t { whole, part };

[[gnu::cold]] void check_whole(const Reducer& call, Team& team, const check::Buffer& dest, const check::Buffer& source,
                               size_t nelems) noexcept {
  check::CollectiveCall agreed(team.state, call.function);
  agreed.number("nelems", static_cast<long long>(nelems));
  check::check_collective(team, agreed, dest, source, check::InPlace::allowed);
}

/// dest may be any part of source, and of all arguments only it may differ between members then.
[[gnu::cold]] void check_part(const Reducer& call, Team& team, const check::Buffer& dest, const check::Buffer& source,
                              size_t nelems) noexcept {
  check::must_be_symmetric(team.state, call.function, dest);
  check::must_be_symmetric(team.state, call.function, source);
  check::CollectiveCall agreed(team.state, call.function);
  agreed.number("nelems", static_cast<long long>(nelems));
  if (nelems > 0) agreed.address("source", source.address);
  const auto behind = [](const check::Buffer& b) { return static_cast<const char*>(b.address) + b.nbytes; };
  if (nelems > 0 && (dest.address >= behind(source) || source.address >= behind(dest)))
    agreed.address("dest", dest.address);
  check::must_agree(team, agreed);
}

/// Checks what every algorithm takes for granted, then runs `algorithm(team, job)`.
template <class Algorithm>
int run(const Reducer& call, shmem_team_t handle, void* dest, const void* source, size_t nelems, Dest kind,
        Algorithm&& algorithm) noexcept {
  Team* const team = find_team(call.function, handle);
  if (!team) return kBadTeam;
  PeState& state = team->state;
  const size_t nbytes = total_bytes(call.function, nelems, call.element, state.me);
  const size_t all =
      kind == Dest::whole ? nbytes : total_bytes(call.function, nbytes, static_cast<size_t>(team->size()), state.me);
  RAILSHMEM_PROBE_PLAIN(collective, call.function, nbytes);
  if (checking(state)) {
    const auto check = kind == Dest::whole ? check_whole : check_part;
    check(call, *team, {"dest", dest, nbytes}, {"source", source, all}, nelems);
  }
  if (nelems == 0) return 0;
  check_local(call.function, "dest", dest, nbytes, state.me);
  check_local(call.function, "source", source, all, state.me);
  locate(state, call.function, dest, nbytes, state.me);
  locate(state, call.function, source, all, state.me);
  algorithm(*team, Reduction{call.function, find_combine(call.op, call.kind), call.element, nelems,
                             static_cast<std::byte*>(dest), static_cast<const std::byte*>(source), call.op, call.kind});
  return 0;
}

}  // namespace

int reduce_call(const Reducer& call, shmem_team_t team, void* dest, const void* source, size_t nelems) noexcept {
  return run(call, team, dest, source, nelems, Dest::whole, reduce);
}

int scan_call(const Reducer& call, Scan kind, shmem_team_t team, void* dest, const void* source,
              size_t nelems) noexcept {
  return run(call, team, dest, source, nelems, Dest::whole,
             [=](Team& t, const Reduction& job) noexcept { scan(t, job, kind); });
}

int reducescatter_call(const Reducer& call, shmem_team_t team, void* dest, const void* source, size_t nelems) noexcept {
  return run(call, team, dest, source, nelems, Dest::part, reducescatter);
}

}  // namespace railshmem

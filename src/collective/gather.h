// SPDX-License-Identifier: BSD-3-Clause
// One member works for all of its node: the others arrive, and wait until it is done. A PE needs the CPU only twice.
#pragma once

#include "src/collective/link.h"

namespace railshmem {

inline constexpr size_t kGatheredAt = offsetof(SyncFlags, gathered);
inline constexpr size_t kAnsweredAt = offsetof(SyncFlags, answered);

/// Members counted in when all are there.
inline uint64_t arrivals_due(const Team& team) noexcept {
  return (team.gathers - team.first_number) * static_cast<uint64_t>(team.nodes.size_here());
}

/// Counts this PE in. True for the last member on the node.
inline bool arrive(Team& team) noexcept {
  ++team.gathers;
  team.enter();
  // acq_rel: who works must see what all others stored, and pass it on.
  return __atomic_add_fetch(reinterpret_cast<uint64_t*>(team.here(0, kGatheredAt)), 1, __ATOMIC_ACQ_REL) ==
         arrivals_due(team);
}

/// The leader, after arrive(): waits for the rest of the node.
inline void await_node(Team& team, const char* function) noexcept {
  wait_for(team.state, member(team, function, -1),
           [&] { return reached(team.here(0, kGatheredAt), arrivals_due(team)); });
}

/// Called by the member that worked: lets the others go on.
inline void answer_node(Team& team) noexcept {
  // release: pairs with await_answer().
  __atomic_store_n(reinterpret_cast<uint64_t*>(team.here(0, kAnsweredAt)), team.gathers, __ATOMIC_RELEASE);
}

inline void await_answer(Team& team, const char* function) noexcept {
  // On one node the last member to come works; over several nodes each leader does.
  const int working = team.nodes.one_node() ? -1 : team.nodes.members[0];
  wait_for(team.state, member(team, function, working),
           [&] { return reached(team.here(0, kAnsweredAt), team.gathers); });
}

}  // namespace railshmem

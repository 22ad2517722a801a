// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/collectives.h"

#include "src/collective/gather.h"
#include "src/collective/link.h"

namespace railshmem {
namespace {

constexpr size_t round_at(int r) {
  return offsetof(SyncFlags, round) + static_cast<size_t>(r) * sizeof(FlagLine);
}
constexpr size_t leader_round_at(int r) {
  return offsetof(SyncFlags, leader_round) + static_cast<size_t>(r) * sizeof(FlagLine);
}

/// Round r: tell the member 2^r places further, wait for the one 2^r places before. log2(size) flag latencies.
void disseminate_on_node(Team& team, const char* function) noexcept {
  const int size = team.nodes.size_here();
  const int me = team.nodes.my_index;
  for (int r = 0, distance = 1; distance < size; ++r, distance *= 2) {
    int to = me + distance;
    if (to >= size) to -= size;
    int from = me - distance;
    if (from < 0) from += size;
    // release: pairs with reached(); orders this PE's stores before the synchronisation.
    __atomic_store_n(reinterpret_cast<uint64_t*>(team.here(to, round_at(r))), team.syncs, __ATOMIC_RELEASE);
    await(team, function, team.nodes.members[static_cast<size_t>(from)], round_at(r), team.syncs);
  }
}

void disseminate_among_leaders(Team& team, const char* function) noexcept {
  const int nodes = static_cast<int>(team.nodes.leaders.size());
  const int me = team.nodes.my_node;
  for (int r = 0, distance = 1; distance < nodes; ++r, distance *= 2) {
    const int to = team.nodes.leaders[static_cast<size_t>((me + distance) % nodes)];
    const int from = team.nodes.leaders[static_cast<size_t>((me - distance + nodes) % nodes)];
    raise(team, to, leader_round_at(r), team.syncs);
    await(team, function, from, leader_round_at(r), team.syncs);
  }
}

/// A gather without work: a PE needs the CPU only twice, which is what counts when PEs outnumber CPUs. Between nodes
/// the leader goes on alone.
void gather_and_wait(Team& team, const char* function) noexcept {
  const bool last = arrive(team);
  if (team.nodes.one_node()) {
    if (last) return answer_node(team);
  } else if (team.nodes.my_index == 0) {
    await_node(team, function);
    disseminate_among_leaders(team, function);
    return answer_node(team);
  }
  await_answer(team, function);
}

}  // namespace

void sync(Team& team, const char* function) noexcept {
  ++team.syncs;
  team.enter();
  if (team.size() == 1) return __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (team.nodes.one_node() && !team.share_cpus) return disseminate_on_node(team, function);
  if (team.nodes.size_here() == 1) return disseminate_among_leaders(team, function);
  gather_and_wait(team, function);
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/sync.h"

#include "src/collective/link.h"

namespace railshmem {
namespace {

constexpr size_t round_at(int r) {
  return offsetof(SyncFlags, round) + static_cast<size_t>(r) * sizeof(FlagLine);
}
constexpr size_t leader_round_at(int r) {
  return offsetof(SyncFlags, leader_round) + static_cast<size_t>(r) * sizeof(FlagLine);
}
constexpr size_t kArrived = offsetof(SyncFlags, arrived);
constexpr size_t kReleased = offsetof(SyncFlags, released);

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

/// One counter and one flag in the leader's memory: a PE needs the CPU only twice, which is what counts when PEs
/// outnumber CPUs. Between nodes the leader goes on alone.
void arrive_and_wait(Team& team, const char* function) noexcept {
  const uint64_t all = (team.syncs - team.first_number) * static_cast<uint64_t>(team.nodes.size_here());
  uint64_t* const released = reinterpret_cast<uint64_t*>(team.here(0, kReleased));
  // acq_rel: the last one to arrive must see, and pass on, what all others released.
  const uint64_t arrived = __atomic_add_fetch(reinterpret_cast<uint64_t*>(team.here(0, kArrived)), 1, __ATOMIC_ACQ_REL);
  if (team.nodes.one_node()) {
    // release: pairs with the waiters' reached(), here and below.
    if (arrived == all) return __atomic_store_n(released, team.syncs, __ATOMIC_RELEASE);
  } else if (team.nodes.my_index == 0) {
    wait_for(team.state, {function}, [&] { return reached(team.here(0, kArrived), all); });
    disseminate_among_leaders(team, function);
    return __atomic_store_n(released, team.syncs, __ATOMIC_RELEASE);
  }
  wait_for(team.state, {function, team.pes.pe(team.nodes.members[0])},
           [&] { return reached(team.here(0, kReleased), team.syncs); });
}

}  // namespace

void sync(Team& team, const char* function) noexcept {
  ++team.syncs;
  if (team.size() == 1) return __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (team.nodes.one_node() && !team.share_cpus) return disseminate_on_node(team, function);
  if (team.nodes.size_here() == 1) return disseminate_among_leaders(team, function);
  arrive_and_wait(team, function);
}

}  // namespace railshmem

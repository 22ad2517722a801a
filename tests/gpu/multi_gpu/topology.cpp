// SPDX-License-Identifier: BSD-3-Clause
// shmemx_topology_get on heaps in the memory of GPUs and of the host, for the world, its reverse, and a part of it.
#include <shmem.h>
#include <shmemx.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int me = 0, npes = 0, failures = 0;

void expect(const char* what, const char* team, long seen, long right) {
  if (seen == right) return;
  std::printf("FAILED %s of %s: PE %d: %ld, expected %ld\n", what, team, me, seen, right);
  ++failures;
}

long number_of(const char* variable, long otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr || std::atol(text) == 0 ? otherwise : std::atol(text);
}

/// Nodes are runs of SHMEM_NODE_SIZE PEs.
void check(const char* name, shmem_team_t team) {
  if (team == SHMEM_TEAM_INVALID) return;
  const int size = static_cast<int>(number_of("SHMEM_NODE_SIZE", npes));
  std::vector<int> nodes;  // in the order of their lowest ranks
  int my_node = -1, my_index = 0, node_npes = 0, world_nodes = (npes + size - 1) / size;
  for (int rank = 0; rank < shmem_team_n_pes(team); ++rank) {
    const int pe = shmem_team_translate_pe(team, rank, SHMEM_TEAM_WORLD), node = pe / size;
    size_t at = 0;
    while (at < nodes.size() && nodes[at] != node) ++at;
    if (at == nodes.size()) nodes.push_back(node);
    if (node != me / size) continue;
    if (pe == me) {
      my_node = static_cast<int>(at);
      my_index = node_npes;
    }
    ++node_npes;
  }
  shmemx_topology_t seen{};
  seen.size = sizeof seen;
  if (shmemx_topology_get(team, &seen) != 0) return expect("the result", name, 1, 0);
  expect("npes", name, seen.npes, shmem_team_n_pes(team));
  expect("nnodes", name, seen.nnodes, static_cast<long>(nodes.size()));
  expect("my_node", name, seen.my_node, my_node);
  expect("my_index", name, seen.my_index, my_index);
  expect("node_npes", name, seen.node_npes, node_npes);
  const char* const kind = std::getenv("SHMEM_HEAP_KIND");
  const bool on_gpus = kind != nullptr && *kind == 'd';
  expect("mapped", name, seen.mapped, on_gpus ? 1 : 0);
  const bool linked = on_gpus && node_npes > 1;
  const bool kind_is_right = linked ? seen.link_kind >= SHMEMX_LINK_SAME && seen.link_kind <= SHMEMX_LINK_PCIE
                                    : seen.link_kind == SHMEMX_LINK_NONE;
  expect("link_kind as expected", name, kind_is_right ? 1 : 0, 1);
  // Rails are those of the job, whatever the team.
  const long rails = world_nodes > 1 ? number_of("SHMEM_OFI_RAILS_PER_NIC", 1) : 0;
  expect("rails", name, seen.rails % (rails == 0 ? 1 << 30 : rails), 0);
  expect("rails at all", name, seen.rails > 0 ? 1 : 0, rails > 0 ? 1 : 0);
  expect("rails_alive", name, seen.rails_alive, seen.rails);
  expect("speeds that are none", name, seen.link_speed < 0 || seen.rail_speed < 0 ? 1 : 0, 0);
  if (me == 0)
    std::printf("%s: %d PEs on %d nodes, link %d of %.1f GB/s, %d of %d rails of %.1f GB/s\n", name, seen.npes,
                seen.nnodes, seen.link_kind, seen.link_speed, seen.rails_alive, seen.rails, seen.rail_speed);
}

}  // namespace

int main() {
  shmem_init();
  me = shmem_my_pe();
  npes = shmem_n_pes();
  const char* const kind = std::getenv("SHMEM_HEAP_KIND");
  if (kind != nullptr && *kind == 'd' && shmemx_attach_device() != 0) {
    if (me == 0) std::printf("skipped: no GPU\n");
    shmem_finalize();
    return 77;
  }
  shmem_team_t reversed = SHMEM_TEAM_INVALID, odd = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, nullptr, 0, &reversed);
  if (npes > 1) shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, npes / 2, nullptr, 0, &odd);
  check("the world", SHMEM_TEAM_WORLD);
  check("the world in reverse", reversed);
  check("the odd PEs", odd);
  check("the node", SHMEM_TEAM_SHARED);
  shmemx_topology_t topology{};  // without its size
  expect("the result without a size", "the world", shmemx_topology_get(SHMEM_TEAM_WORLD, &topology) != 0, 1);
  expect("the result without a place", "the world", shmemx_topology_get(SHMEM_TEAM_WORLD, nullptr) != 0, 1);
  topology.size = sizeof topology;
  expect("the result for no team", "no team", shmemx_topology_get(SHMEM_TEAM_INVALID, &topology) != 0, 1);
  shmem_barrier_all();
  if (me == 0 && failures == 0) std::printf("ok     topology, %d PEs\n", npes);
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}

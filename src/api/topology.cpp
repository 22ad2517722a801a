// SPDX-License-Identifier: BSD-3-Clause
// shmemx_topology_get: where the members of a team are, and what connects them.
#include "shmem/coll.h"
#include "src/api/job.h"
#include "src/api/team_call.h"
#include "src/base/error.h"
#include "src/base/guard.h"
#include "src/cuda/links.h"

using namespace railshmem;

namespace {

static_assert(static_cast<int>(cuda::LinkKind::same) == SHMEMX_LINK_SAME &&
                  static_cast<int>(cuda::LinkKind::nvlink) == SHMEMX_LINK_NVLINK &&
                  static_cast<int>(cuda::LinkKind::pcie) == SHMEMX_LINK_PCIE,
              "the numbers of links are equal");

constexpr double kGiga = 1e9;

void add_nodes(const Team& team, shmemx_topology_t& out) noexcept {
  out.npes = team.size();
  out.nnodes = static_cast<int>(team.nodes.leaders.size());
  out.my_node = team.nodes.my_node;
  out.my_index = team.nodes.my_index;
  out.node_npes = team.nodes.size_here();
}

/// To the next member of the node, counted in a circle.
void add_link(const Team& team, const DeviceMemory& memory, shmemx_topology_t& out) {
  out.mapped = memory.reaches_node() ? 1 : 0;
  if (out.node_npes == 1) return;
  const int next = team.nodes.members[static_cast<size_t>((out.my_index + 1) % out.node_npes)];
  const auto pe = static_cast<size_t>(team.pes.pe(next));
  const cuda::Link link = cuda::link_to(memory.gpu(), memory.gpu_of_pe()[pe]);
  out.link_kind = static_cast<int>(link.kind);
  out.link_speed = link.bytes_per_second / kGiga;
}

void add_rails(Network& network, shmemx_topology_t& out) {
  const RailsNow rails = network.rails_now();
  out.rails = rails.all;
  out.rails_alive = rails.alive;
  out.rail_speed = rails.speed / kGiga;
}

}  // namespace

extern "C" int shmemx_topology_get(shmem_team_t handle, shmemx_topology_t* topology) {
  constexpr const char* kFunction = "shmemx_topology_get";
  return guard(kFunction, [&] {
    World& world = job::world(kFunction);
    if (!topology || topology->size != sizeof *topology)
      throw Error("topology is NULL or its size is not set; set topology->size to sizeof(shmemx_topology_t)");
    Team& team = must_find_team(kFunction, handle);
    shmemx_topology_t found{};
    found.size = sizeof found;
    add_nodes(team, found);
    if (const DeviceMemory* const memory = world.device_memory()) add_link(team, *memory, found);
    if (team.state.network) add_rails(*team.state.network, found);
    *topology = found;
  });
}

// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/nodes.h"

#include <shmem.h>
#include <shmemx.h>

#include <array>

#include "src/base/error.h"

namespace railshmem::overlap {

void write_node(shmem_team_t team, const Workspace& workspace, Stream stream) {
  shmemx_topology_t where{};
  where.size = sizeof where;
  if (shmemx_topology_get(team, &where) != 0) throw Error("the team's nodes are not known");
  std::array own{write_word(workspace.mine().done, static_cast<uint64_t>(where.my_node))};
  give_words(own, stream);
  must(driver().stream_synchronize(stream), "cuStreamSynchronize");
}

std::vector<int> nodes_of_members(shmem_team_t team, int n, const Workspace& workspace, Stream stream) {
  const Words& words = workspace.mine();
  if (shmem_fcollectmem(team, words.arrived, words.done, sizeof(uint64_t)) != 0)
    throw Error("the members of the team did not tell each other their nodes");
  std::vector<uint64_t> told(static_cast<size_t>(n));
  must(driver().copy_async(address_of(told.data()), address_of(words.arrived), told.size() * sizeof(uint64_t), stream),
       "cuMemcpyAsync");
  must(driver().stream_synchronize(stream), "cuStreamSynchronize");
  return {told.begin(), told.end()};
}

}  // namespace railshmem::overlap

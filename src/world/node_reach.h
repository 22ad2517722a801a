// SPDX-License-Identifier: BSD-3-Clause
// Which PEs of a host can really map each other's memory, agreed by all PEs.
#pragma once

#include <vector>

#include "src/heap/load_store.h"
#include "src/plugin/bootstrap.h"
#include "src/topology/node_layout.h"
#include "src/world/identity.h"

namespace railshmem {

/// Nodes and the memory of each of this node's PEs (by slot).
struct NodeReach {
  NodeLayout layout;
  std::vector<PeerFd> memory_by_slot;
};

/// Collective. Without `load_store` every PE is a node of its own. A node in which one PE cannot open another's memory
/// is split into nodes of one PE (a warning says why), because all PEs must agree on who reaches whom.
NodeReach find_node_reach(Bootstrap& bootstrap, const std::vector<Identity>& identities, int node_size,
                          LoadStore* load_store, int memory_fd);

}  // namespace railshmem

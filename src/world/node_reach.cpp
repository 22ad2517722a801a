// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/node_reach.h"

#include "src/base/log.h"

namespace railshmem {
namespace {

std::vector<uint64_t> hosts_of(const std::vector<Identity>& identities) {
  std::vector<uint64_t> hosts;
  hosts.reserve(identities.size());
  for (const Identity& identity : identities) hosts.push_back(identity.host);
  return hosts;
}

/// The first peer of the node that cannot be mapped, with the reason; warns once per PE.
bool reaches_all(LoadStore& load_store, const NodeLayout& layout, const std::vector<PeerFd>& memory, int me) {
  for (const int pe : layout.members) {
    if (pe == me) continue;
    const std::string why = load_store.unreachable(memory[static_cast<size_t>(pe)]);
    if (why.empty()) continue;
    log_warn("memory of PE %d on this host cannot be mapped: %s; its node uses the network instead", pe, why.c_str());
    return false;
  }
  return true;
}

}  // namespace

NodeReach find_node_reach(Bootstrap& bootstrap, const std::vector<Identity>& identities, int node_size,
                          LoadStore* load_store, int memory_fd) {
  const int me = bootstrap.pe();
  const std::vector<PeerFd> memory = exchange(bootstrap, describe_fd(memory_fd));
  std::vector<uint64_t> hosts = hosts_of(identities);
  NodeReach reach{make_node_layout(hosts, me, node_size, load_store == nullptr), {}};
  const uint8_t whole = !load_store || reaches_all(*load_store, reach.layout, memory, me);
  const std::vector<uint8_t> wholes = exchange(bootstrap, whole);
  bool all_whole = true;
  for (size_t pe = 0; pe < wholes.size(); ++pe) {
    if (wholes[pe]) continue;
    all_whole = false;
    // If two PEs of a node cannot share memory, each PE of the node gets its own host number. All PEs agree on it.
    const NodeLayout node = make_node_layout(hosts_of(identities), static_cast<int>(pe), node_size, false);
    for (const int member : node.members) hosts[static_cast<size_t>(member)] = ~static_cast<uint64_t>(member);
  }
  if (!all_whole) {
    const int on_host = reach.layout.pes_on_host;
    reach.layout = make_node_layout(hosts, me, node_size, false);
    reach.layout.pes_on_host = on_host;
  }
  for (const int pe : reach.layout.members) reach.memory_by_slot.push_back(memory[static_cast<size_t>(pe)]);
  return reach;
}

}  // namespace railshmem

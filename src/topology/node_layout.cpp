// SPDX-License-Identifier: BSD-3-Clause
#include "src/topology/node_layout.h"

#include <algorithm>
#include <unordered_map>

namespace railshmem {

NodeLayout make_node_layout(std::span<const uint64_t> host_of_pe, int me, int node_size, bool alone) {
  const int npes = static_cast<int>(host_of_pe.size());
  const int per_node = alone ? 1 : node_size > 0 ? node_size : npes;
  NodeLayout layout;
  struct Host {
    int pes = 0;   // seen so far
    int node = 0;  // index in leaders of the node that is being filled
  };
  std::unordered_map<uint64_t, Host> hosts;
  layout.node_of_pe.resize(host_of_pe.size());
  for (int pe = 0; pe < npes; ++pe) {
    Host& host = hosts[host_of_pe[static_cast<size_t>(pe)]];
    if (host.pes++ % per_node == 0) {
      host.node = static_cast<int>(layout.leaders.size());
      layout.leaders.push_back(pe);
    }
    layout.node_of_pe[static_cast<size_t>(pe)] = host.node;
  }
  layout.my_node = layout.node_of_pe[static_cast<size_t>(me)];
  for (int pe = 0; pe < npes; ++pe) {
    if (layout.node_of_pe[static_cast<size_t>(pe)] != layout.my_node) continue;
    if (pe == me) layout.my_slot = static_cast<int>(layout.members.size());
    layout.members.push_back(pe);
  }
  layout.pes_on_host = hosts[host_of_pe[static_cast<size_t>(me)]].pes;
  return layout;
}

}  // namespace railshmem

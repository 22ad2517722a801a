// SPDX-License-Identifier: BSD-3-Clause
// Which PEs form a node. A pure function of what the PEs told each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace railshmem {

struct NodeLayout {
  std::vector<int> members;  ///< PEs of this PE's node, ascending: slot -> PE
  int my_slot = 0;
  std::vector<int> leaders;     ///< slot 0 of every node, ascending
  int my_node = 0;              ///< index of this node in leaders
  std::vector<int> node_of_pe;  ///< PE -> index in leaders
  int pes_on_host = 1;
  int cpus_on_host = 1;  ///< that they may run on, all together; filled in by World

  bool consecutive() const noexcept { return members.back() - members.front() + 1 == static_cast<int>(members.size()); }
};

/// `host_of_pe` in PE order. node_size k > 0 splits each host into runs of k PEs (in PE order on that host);
/// alone: every PE is a node of its own (no load/store transport).
NodeLayout make_node_layout(std::span<const uint64_t> host_of_pe, int me, int node_size, bool alone);

}  // namespace railshmem

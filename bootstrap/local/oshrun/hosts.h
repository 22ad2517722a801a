// SPDX-License-Identifier: BSD-3-Clause
// The hosts of a job: -H, --hostfile, and which PEs run where.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace railshmem::oshrun {

struct Host {
  std::string name;  ///< as ssh takes it: node1, user@node1
  int slots = 0;     ///< PEs that the host may have; 0: not said
};

/// Reads "node1:4, node2": names, with or without slots. Throws Error naming what is wrong.
std::vector<Host> parse_host_list(std::string_view list);
/// Reads one host a line: "node1", "node1:4" or "node1 slots=4 max_slots=8"; # begins a comment.
std::vector<Host> parse_hostfile(std::string_view content);

/// Consecutive PEs of one host.
struct Share {
  std::string host;
  int first = 0;
  int count = 0;
};

/// Places PEs on hosts. A host named several times, also this host under several names, gets a slot for each line that
/// says no number. With slots, hosts are filled in their order. Where no host says slots, PEs are divided evenly. npes
/// 0: as many PEs as there are slots, or one a host. Throws Error where the slots do not suffice.
std::vector<Share> place(const std::vector<Host>& hosts, int npes);

}  // namespace railshmem::oshrun

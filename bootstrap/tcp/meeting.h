// SPDX-License-Identifier: BSD-3-Clause
// How a job forms: everyone joins at PE 0, which tells each PE the address of its parent in the tree.
#pragma once

#include "bootstrap/common/stream.h"
#include "bootstrap/tcp/address.h"
#include "bootstrap/tcp/secret.h"

namespace railshmem::tcp {

/// Who may connect to PE 0. this_host only when MASTER_ADDR says loopback itself: some hosts map their own name to
/// loopback in /etc/hosts, but other hosts do not.
enum class Reachability : uint8_t { everywhere, this_host };

/// Where and as whom to meet.
struct Meeting {
  int pe;
  int npes;
  double timeout_s;
  Key key{};
  std::vector<Address> addresses;  ///< of PE 0, any of which may be the right one
  int first_port;
  int nports;
  std::string place;  ///< for messages: "MASTER_ADDR node1, ports 29500 to 29515"
  Reachability reachability = Reachability::everywhere;
  std::string interface;            ///< whose address this PE announces; empty = the one that reaches PE 0
  Secret secret;                    ///< that everyone must know who joins; empty = none
  std::vector<UniqueFd> listeners;  ///< PE 0's, when they are open already (unique id)
};

/// An open connection to a neighbour in the tree.
struct Neighbour {
  int pe;
  Stream stream;
};

/// Connections to the parent (first, except on PE 0) and to the children in order.
std::vector<Neighbour> meet(Meeting meeting);

/// The two sides of meet().
std::vector<Neighbour> meet_as_root(Meeting meeting);
std::vector<Neighbour> meet_as_member(const Meeting& meeting);

/// What a PE says of itself to PE 0; `address` is where its children reach it.
Bytes join_claim(const Meeting& meeting, const Address& address);

/// "host node1 pid 4711": who this process is, for messages on other hosts.
std::string who_am_i();

}  // namespace railshmem::tcp

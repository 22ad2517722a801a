// SPDX-License-Identifier: BSD-3-Clause
// Where a process listens: at as few addresses as others need.
#pragma once

#include <vector>

#include "bootstrap/tcp/meeting.h"

namespace railshmem::tcp {

/// One listening socket for each address, all on `port`, or on one free port where that is 0. None, with errno set,
/// when one of them cannot be had.
std::vector<UniqueFd> open_listeners(const std::vector<Address>& addresses, int port);

/// Every address of this host, where it cannot be narrower.
std::vector<UniqueFd> open_listeners_everywhere(int port);

/// Where PE 0 listens when its place comes from MASTER_ADDR.
struct ListenerPlan {
  std::vector<Address> addresses;  ///< empty = everywhere
  bool foreign = false;            ///< MASTER_ADDR is no address of this host
};
/// Throws Error when SHMEM_TCP_INTERFACE names no interface.
ListenerPlan plan_listeners(const Meeting& meeting);

/// "10.0.0.1, fe80::1": without ports.
std::string list_hosts(const std::vector<Address>& addresses);

}  // namespace railshmem::tcp

// SPDX-License-Identifier: BSD-3-Clause
// Network interfaces that SHMEM_OFI_NICS names and that libfabric does not list, because they are down.
#pragma once

#include <string>
#include <vector>

#include "transports/ofi/fid.h"
#include "transports/ofi/hints.h"
#include "transports/ofi/nic_facts.h"

namespace railshmem::ofi {

/// Why a NIC that this machine has cannot be used now; empty where nothing is wrong, or where there is no such NIC.
/// `name` is an interface, an RDMA device or a PCI address.
std::string why_not_ready(const std::string& name, const Interfaces& interfaces);

struct DownInterface {
  Info info;
  NicFacts facts;
};

/// What providers over sockets offer at the addresses of an interface that is down. A rail can be opened there: it
/// carries nothing until the link is back. Empty for any other NIC.
std::vector<DownInterface> offers_at(const std::string& interface, const fi_info& hints, const Interfaces& interfaces);

}  // namespace railshmem::ofi

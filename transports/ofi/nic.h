// SPDX-License-Identifier: BSD-3-Clause
// The network interfaces that libfabric offers and that this PE uses.
#pragma once

#include <string>
#include <vector>

#include "src/base/env.h"
#include "transports/ofi/fid.h"
#include "transports/ofi/hints.h"

namespace railshmem::ofi {

/// One NIC with the provider's answer to our hints.
struct Nic {
  Info info;
  const char* provider() const noexcept { return info->fabric_attr->prov_name; }
  const char* domain() const noexcept { return info->domain_attr->name; }
  /// "tcp;ofi_rxm on eth0"
  std::string name() const { return std::string(provider()) + " on " + domain(); }
};

/// Interfaces in order of preference, at least one, all of one provider; honours SHMEM_OFI_PROVIDER, SHMEM_OFI_NIC,
/// SHMEM_OFI_PROGRESS and SHMEM_OFI_MAX_RAILS. Throws Error listing what is available.
std::vector<Nic> find_nics(const Env& env, bool several_hosts);

}  // namespace railshmem::ofi

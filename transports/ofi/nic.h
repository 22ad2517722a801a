// SPDX-License-Identifier: BSD-3-Clause
// The network interfaces that libfabric offers and that this PE uses.
#pragma once

#include <string>
#include <vector>

#include "src/plugin/network.h"
#include "transports/ofi/fid.h"
#include "transports/ofi/gpu_way.h"
#include "transports/ofi/hints.h"
#include "transports/ofi/nic_facts.h"

namespace railshmem::ofi {

/// One NIC with the provider's answer to our hints. SHMEM_OFI_RAILS_PER_NIC makes several of one interface.
struct Nic {
  Info info;
  NicFacts facts;
  std::string why;  ///< the reason for this choice, one line
  GpuWay gpu_way = GpuWay::staging;
  std::string why_gpu_way = {};  ///< why staging, in a job with a device heap
  bool without_cuda = false;     ///< the provider is to promise that it calls no CUDA
  size_t copy = 0;               ///< counts the rails of one interface from 0
  const char* provider() const noexcept { return info->fabric_attr->prov_name; }
  const char* domain() const noexcept { return info->domain_attr->name; }
  /// "tcp;ofi_rxm on eth0", "tcp;ofi_rxm on eth0 #2"
  std::string name() const;
};

/// The network that a NIC is in, for pair_rails(): the subnet of its internet address, else the fabric's name.
inline const std::string& network_of(const Nic& nic) noexcept {
  return nic.facts.network;
}

/// What this PE opens a rail on each, in order, at least one, all of one provider; honours SHMEM_OFI_PROVIDER,
/// SHMEM_OFI_NICS, SHMEM_OFI_MAX_RAILS, SHMEM_OFI_RAILS_PER_NIC, SHMEM_OFI_PROGRESS and SHMEM_OFI_HMEM. The PEs of a
/// host choose alike from NetworkConfig::host_cpus. Throws Error listing what is available.
std::vector<Nic> find_nics(const NetworkConfig& config);

/// Lines for SHMEM_INFO=1 and shmem_info --rails: what find_nics() takes, all that it does not, and why.
std::string explain_choice(const NetworkConfig& config);

}  // namespace railshmem::ofi

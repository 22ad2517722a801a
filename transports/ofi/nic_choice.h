// SPDX-License-Identifier: BSD-3-Clause
// Which network interfaces a PE uses: a pure function of what libfabric lists and what the user asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace railshmem::ofi {

/// Better families have higher values.
enum class AddressFamily : uint8_t { other, ipv6_link_local, ipv6, ipv4 };

/// One entry of fi_getinfo's list as the choice sees it.
struct NicFacts {
  std::string provider;
  std::string domain;
  std::string interface;  ///< name of the system's interface that has the address; empty when unknown
  std::string pci;        ///< bus address of a real NIC; empty for tcp, shm and the like
  AddressFamily family = AddressFamily::other;
  bool loopback = false;     ///< an address of this host only, or a provider that stays within a host
  bool host_bridge = false;  ///< docker0 and the like: an address that other hosts cannot reach
  bool ordered = false;      ///< keeps messages behind earlier writes
};

struct NicRequest {
  std::string provider;  ///< SHMEM_OFI_PROVIDER; empty = any
  std::string nic;       ///< SHMEM_OFI_NIC; empty = any
  bool several_hosts = false;
  size_t max_rails = 1;
};

/// Indices into `listed`, best first, all of one provider, at most one per NIC and max_rails in all.
/// Throws Error listing what is available when nothing fits.
std::vector<size_t> choose_nics(std::span<const NicFacts> listed, const NicRequest& request);

}  // namespace railshmem::ofi

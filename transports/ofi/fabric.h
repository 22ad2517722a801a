// SPDX-License-Identifier: BSD-3-Clause
// libfabric as one PE uses it: per NIC a rail for host calls and a rail for the proxy thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "src/plugin/network.h"
#include "src/plugin/rail.h"
#include "transports/ofi/memory_region.h"
#include "transports/ofi/nic.h"
#include "transports/ofi/rail.h"

namespace railshmem::ofi {

/// Every rail has a domain of its own, so that the host's thread and the proxy's never share a lock.
///
/// Memory per peer, for jobs of 100,000 PEs: 32 B per NIC for keys and bases (3.2 MB); addresses cost what the
/// provider's table takes, and 24 B more where it does not number them in order.
class Fabric {
 public:
  using RailType = Rail;
  explicit Fabric(const NetworkConfig& config);

  std::vector<std::byte> attach(std::span<const Segment> segments);
  void connect(std::span<const std::vector<std::byte>> cards);
  std::span<Rail> host_rails() noexcept { return hosts_; }
  std::span<Rail> proxy_rails() noexcept { return proxies_; }
  std::string describe() const;

 private:
  Fabric(const NetworkConfig& config, std::vector<Nic> nics);

  int pe_;
  size_t npes_;
  std::vector<std::vector<RemoteRegion>> regions_;  ///< per NIC: [pe * kSegments + segment]; its two rails read it
  std::vector<Rail> proxies_;
  std::vector<Rail> hosts_;
};

static_assert(railshmem::Fabric<Fabric>);

}  // namespace railshmem::ofi

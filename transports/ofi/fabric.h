// SPDX-License-Identifier: BSD-3-Clause
// libfabric as one PE uses it: a rail for host calls, and one rail per NIC for the proxy thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/plugin/network.h"
#include "src/plugin/rail.h"
#include "transports/ofi/local_buffers.h"
#include "transports/ofi/memory_region.h"
#include "transports/ofi/nic.h"
#include "transports/ofi/rail.h"

namespace railshmem::ofi {

/// Every rail has a domain of its own, so that the host's thread and the proxy's never share a lock.
///
/// Memory per peer, for jobs of 100,000 PEs: 32 B per proxy rail for keys and bases (3.2 MB), shared with the host
/// rail; addresses cost what the provider's table takes, and 24 B more where it does not number them in order.
class Fabric {
 public:
  using RailType = Rail;
  explicit Fabric(const NetworkConfig& config);

  std::vector<std::byte> attach(std::span<const Segment> segments);
  void connect(std::span<const std::vector<std::byte>> cards);
  Rail& host_rail() noexcept { return host_; }
  std::span<Rail> proxy_rails() noexcept { return proxies_; }
  /// Buffers outside the segments, registered ahead at every rail that needs it. Any thread; throws Error.
  void register_buffer(std::span<const std::byte> bytes) { local_buffers_->add(bytes); }
  void unregister_buffer(const std::byte* base) { local_buffers_->remove(base); }
  std::string describe() const;

 private:
  Fabric(const NetworkConfig& config, std::vector<Nic> nics);

  int pe_;
  size_t npes_;
  std::vector<std::vector<RemoteRegion>> regions_;  ///< per proxy rail: [pe * kSegments + segment]; rails read it
  std::unique_ptr<LocalBuffers> local_buffers_;
  std::vector<Rail> proxies_;
  Rail host_;
};

static_assert(railshmem::Fabric<Fabric>);

}  // namespace railshmem::ofi

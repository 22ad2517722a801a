// SPDX-License-Identifier: BSD-3-Clause
// libfabric as one PE uses it: per NIC a rail for host calls and a rail for each proxy thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/plugin/network.h"
#include "src/plugin/rail.h"
#include "transports/ofi/descriptor.h"
#include "transports/ofi/device_extents.h"
#include "transports/ofi/link_state.h"
#include "transports/ofi/local_buffers.h"
#include "transports/ofi/memory_region.h"
#include "transports/ofi/nic.h"
#include "transports/ofi/rail.h"

namespace railshmem::ofi {

/// Every rail has a domain of its own, so that its threads never share a lock.
///
/// Memory per peer, for jobs of 100,000 PEs: 64 B per rail for keys and bases (6.4 MB); addresses cost what the
/// provider's table takes, and 24 B more where it does not number them in order.
class Fabric {
 public:
  using RailType = Rail;
  explicit Fabric(const NetworkConfig& config);

  std::vector<std::byte> attach(std::span<const Segment> segments);
  void connect(std::span<const std::vector<std::byte>> descriptors);
  std::span<Rail> rails(Port port) noexcept { return ports_[static_cast<size_t>(port)].rails; }
  /// Buffers outside the segments, registered ahead at every rail that needs it. Throws Error.
  void register_buffer(std::span<const std::byte> bytes) { local_buffers_->add(bytes); }
  void unregister_buffer(const std::byte* base) { local_buffers_->remove(base); }

  // ---- extents of the device heap; see Network --------------------------------------------------------------------
  bool takes_extents() const noexcept { return extents_->wanted(); }
  std::vector<std::byte> expose(const DeviceExtent& extent);
  void learn(std::span<const std::vector<std::byte>> descriptors);
  std::string describe() const;
  /// Bytes per second of the first rail's interface; 0: unknown.
  double speed() const noexcept { return static_cast<double>(nics_.front().facts.speed) / 8; }

  // ---- after failures; see RailKeeper. One call at a time; each touches only the rails of the port that it names
  // -----
  std::vector<std::byte> reopen(Port port, size_t r);
  uint32_t learn(Port mine, int pe, std::span<const std::byte> descriptor);
  void limit_silence(Port port, size_t r, std::span<const int> pes, unsigned timeout_ms) {
    rails(port)[r].limit_silence(pes, timeout_ms);
  }
  void cut(Port port, size_t r, std::span<const int> pes) { rails(port)[r].cut(pes); }
  uint32_t rails_to(int pe, size_t rail);
  /// Rails whose interface has no link. Any thread may ask at any time.
  uint32_t without_link() const noexcept;

 private:
  struct PortRails {
    /// What the rails read of their peers, per rail: [pe * kSegments + segment]. A table per port, because different
    /// threads own them.
    std::vector<std::vector<RemoteRegion>> regions;
    std::vector<Rail> rails;
  };
  std::vector<std::vector<RemoteRegion>>& regions(Port port) noexcept {
    return ports_[static_cast<size_t>(port)].regions;
  }
  uint8_t& partner(size_t r, size_t pe) noexcept { return partners_[pe * nics_.size() + r]; }
  std::vector<std::byte> addresses_for(Port port, size_t r);
  void enter(const EndpointDescriptor& news, size_t index, Port mine, size_t r);

  const NetworkConfig config_;
  const int pe_;
  const size_t npes_;
  std::vector<Nic> nics_;         ///< by rail
  std::vector<LinkState> links_;  ///< by rail
  std::vector<Segment> segments_;
  std::vector<NetworkDescriptor> descriptors_;  ///< of every PE, as they are now; only with several rails
  std::vector<uint8_t> partners_;               ///< rail of a peer that a rail of this PE talks to; see partner()
  std::unique_ptr<LocalBuffers> local_buffers_;
  std::unique_ptr<DeviceExtents> extents_;
  std::vector<PortRails> ports_;
};

static_assert(railshmem::Fabric<Fabric>);

}  // namespace railshmem::ofi

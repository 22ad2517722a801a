// SPDX-License-Identifier: BSD-3-Clause
// The device heap as rails know it: this PE's extents, registered with every rail, and those of peers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "src/plugin/port.h"
#include "src/plugin/segment.h"
#include "transports/ofi/descriptor.h"
#include "transports/ofi/gpu_way.h"
#include "transports/ofi/rail.h"

namespace railshmem::ofi {

/// Nothing where GPU memory is staged. Changed only while no port is in use, but for replace(), which concerns the
/// tables of one port.
class DeviceExtents {
 public:
  DeviceExtents(GpuWay way, size_t ports, size_t rails) : way_(way), peers_(ports, std::vector<Peers>(rails)) {}
  DeviceExtents(const DeviceExtents&) = delete;  // rails read its tables

  bool wanted() const noexcept { return way_ != GpuWay::staging; }
  GpuWay way() const noexcept { return way_; }

  /// Registers the extent with all these rails, by port, or with none and throws Error. Answers where those of
  /// Port::proxy have it.
  ExtentDescriptor add(const DeviceExtent& extent, std::span<const std::byte> heap,
                       std::span<const std::span<Rail>> rails_by_port);
  /// The extent that add() registered last, or could not, is nobody's here.
  void add_none() { own_.push_back({}); }
  /// A rail that was opened anew gets all extents; answers where it has them.
  std::vector<RemoteRegion> add_all(Rail& rail) const;

  /// What rail `r` of `port` reads of peers; it stays where it is.
  const std::vector<std::vector<RemoteRegion>>& peers(Port port, size_t r) const noexcept {
    return peers_[static_cast<size_t>(port)][r];
  }
  /// The next extent at all PEs: `regions` by PE, for rail `r` of any port.
  void learn(size_t r, const std::vector<RemoteRegion>& regions);
  /// A rail of PE `pe` was opened anew, which rail `r` of `port` talks to.
  void replace(Port port, size_t r, size_t pe, std::span<const RemoteRegion> extents);

 private:
  using Peers = std::vector<std::vector<RemoteRegion>>;  ///< by extent and PE
  struct Own {
    Memory memory;
    GpuWay way = GpuWay::staging;  ///< staging: rails do not have it
  };

  Memory memory_of(const DeviceExtent& extent, GpuWay way) const noexcept;
  ExtentDescriptor add(const Memory& memory, std::span<const std::span<Rail>> rails_by_port);

  const GpuWay way_;
  std::span<const std::byte> heap_;
  std::vector<Own> own_;
  std::vector<std::vector<Peers>> peers_;  ///< by port and rail: different threads read them
};

}  // namespace railshmem::ofi

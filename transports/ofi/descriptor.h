// SPDX-License-Identifier: BSD-3-Clause
// What a PE tells all others so that they can reach it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "src/plugin/rail.h"
#include "src/plugin/segment.h"
#include "transports/ofi/memory_region.h"

namespace railshmem::ofi {

struct NetworkDescriptor {
  struct Rail {
    std::string network;                            ///< see pair_rails()
    std::vector<std::vector<std::byte>> addresses;  ///< of the endpoints, by port
    std::array<RemoteRegion, kSegments> regions;    ///< zero for a segment that the job does not have
  };
  std::string provider;
  std::vector<Rail> rails;
};

/// One endpoint that was opened anew, as failover tells all peers.
struct EndpointDescriptor {
  Port port;
  uint32_t rail;
  std::vector<std::byte> address;
  std::array<RemoteRegion, kSegments> regions;  ///< of Port::proxy
  std::vector<RemoteRegion> extents = {};       ///< of Port::proxy: the extents of the device heap, in their order
};

/// Where each rail of Port::proxy has an extent of the device heap. Empty bytes: this PE stages the extent.
using ExtentDescriptor = std::vector<RemoteRegion>;

std::vector<std::byte> encode(const NetworkDescriptor& descriptor);
/// Throws Error naming `pe` when the bytes are of another version of the library, or damaged.
NetworkDescriptor decode(std::span<const std::byte> bytes, int pe);

std::vector<std::byte> encode(const ExtentDescriptor& descriptor);
ExtentDescriptor decode_extent(std::span<const std::byte> bytes, int pe);

std::vector<std::byte> encode(const EndpointDescriptor& descriptor);
EndpointDescriptor decode_endpoint(std::span<const std::byte> bytes, int pe);

}  // namespace railshmem::ofi

// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/device_extents.h"

#include <algorithm>

#include "src/base/error.h"
#include "src/base/log.h"

namespace railshmem::ofi {

Memory DeviceExtents::memory_of(const DeviceExtent& extent, GpuWay way) const noexcept {
  Memory memory{extent.base, extent.nbytes, HmemInterface::cuda, extent.device};
  if (way == GpuWay::dmabuf) memory.dmabuf_fd = extent.dma_buf_fd;
  if (way == GpuWay::pretended) memory.kind = HmemInterface::host;
  return memory;
}

ExtentDescriptor DeviceExtents::add(const Memory& memory, std::span<const std::span<Rail>> rails_by_port) {
  ExtentDescriptor descriptor;
  std::vector<Rail*> have;
  try {
    for (size_t port = 0; port < rails_by_port.size(); ++port)
      for (Rail& rail : rails_by_port[port]) {
        if (!rail.is_open()) throw Error(text("rail %s is down", rail.name().c_str()));
        const RemoteRegion region = rail.add_extent(memory);
        have.push_back(&rail);
        if (static_cast<Port>(port) == Port::proxy) descriptor.push_back(region);
      }
  } catch (...) {
    for (Rail* rail : have) rail->drop_extent();
    throw;
  }
  return descriptor;
}

ExtentDescriptor DeviceExtents::add(const DeviceExtent& extent, std::span<const std::byte> heap,
                                    std::span<const std::span<Rail>> rails_by_port) {
  if (own_.size() >= kMostExtents) throw Error(text("rails take %zu extents of a device heap at most", kMostExtents));
  heap_ = heap;
  for (const std::span<Rail> rails : rails_by_port)
    for (Rail& rail : rails) rail.use_device_heap(heap_);
  const bool by_address = way_ != GpuWay::dmabuf, by_descriptor = way_ == GpuWay::dmabuf || way_ == GpuWay::either;
  std::string why;
  for (const GpuWay way : {way_ == GpuWay::pretended ? GpuWay::pretended : GpuWay::hmem, GpuWay::dmabuf}) {
    if (way == GpuWay::dmabuf ? !by_descriptor : !by_address) continue;
    if (way == GpuWay::dmabuf && extent.dma_buf_fd < 0) {
      why += why.empty() ? "the GPU gives no dmabuf descriptor" : ", and the GPU gives no dmabuf descriptor";
      continue;
    }
    try {
      const Memory memory = memory_of(extent, way);
      ExtentDescriptor descriptor = add(memory, rails_by_port);
      own_.push_back({memory, way});
      log_debug("device heap: rails have %zu bytes at %zu: %s", extent.nbytes, static_cast<size_t>(extent.at),
                name_of(way));
      return descriptor;
    } catch (const Error& error) {
      why += (why.empty() ? "" : ", and ") + std::string(name_of(way)) + ": " + error.what();
    }
  }
  throw Error(why);
}

std::vector<RemoteRegion> DeviceExtents::add_all(Rail& rail) const {
  std::vector<RemoteRegion> regions;
  rail.use_device_heap(heap_);
  for (const Own& own : own_)
    regions.push_back(own.way == GpuWay::staging ? RemoteRegion{} : rail.add_extent(own.memory));
  return regions;
}

void DeviceExtents::learn(size_t r, const std::vector<RemoteRegion>& regions) {
  for (std::vector<Peers>& rails : peers_) rails[r].push_back(regions);
}

void DeviceExtents::replace(Port port, size_t r, size_t pe, std::span<const RemoteRegion> extents) {
  Peers& peers = peers_[static_cast<size_t>(port)][r];
  for (size_t i = 0; i < std::min(peers.size(), extents.size()); ++i) peers[i][pe] = extents[i];
}

}  // namespace railshmem::ofi

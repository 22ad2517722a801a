// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/device_pieces.h"

#include <algorithm>

#include "src/base/error.h"
#include "src/base/log.h"

namespace railshmem::ofi {

Memory DevicePieces::memory_of(const DevicePiece& piece, GpuWay way) const noexcept {
  Memory memory{piece.base, piece.nbytes, MemoryKind::cuda, piece.device};
  if (way == GpuWay::dmabuf) memory.dmabuf_fd = piece.dma_buf_fd;
  if (way == GpuWay::pretended) memory.kind = MemoryKind::host;
  return memory;
}

PieceCard DevicePieces::add(const Memory& memory, std::span<const std::span<Rail>> rails_by_port) {
  PieceCard card;
  std::vector<Rail*> have;
  try {
    for (size_t port = 0; port < rails_by_port.size(); ++port)
      for (Rail& rail : rails_by_port[port]) {
        if (!rail.is_open()) throw Error(text("rail %s is down", rail.name().c_str()));
        const RemoteRegion region = rail.add_piece(memory);
        have.push_back(&rail);
        if (static_cast<Port>(port) == Port::proxy) card.push_back(region);
      }
  } catch (...) {
    for (Rail* rail : have) rail->drop_piece();
    throw;
  }
  return card;
}

PieceCard DevicePieces::add(const DevicePiece& piece, std::span<const std::byte> heap,
                            std::span<const std::span<Rail>> rails_by_port) {
  if (own_.size() >= kMostPieces) throw Error(text("rails take %zu pieces of a device heap at most", kMostPieces));
  heap_ = heap;
  for (const std::span<Rail> rails : rails_by_port)
    for (Rail& rail : rails) rail.use_device_heap(heap_);
  const bool by_address = way_ != GpuWay::dmabuf, by_descriptor = way_ == GpuWay::dmabuf || way_ == GpuWay::either;
  std::string why;
  for (const GpuWay way : {way_ == GpuWay::pretended ? GpuWay::pretended : GpuWay::hmem, GpuWay::dmabuf}) {
    if (way == GpuWay::dmabuf ? !by_descriptor : !by_address) continue;
    if (way == GpuWay::dmabuf && piece.dma_buf_fd < 0) {
      why += why.empty() ? "the GPU gives no dmabuf descriptor" : ", and the GPU gives no dmabuf descriptor";
      continue;
    }
    try {
      const Memory memory = memory_of(piece, way);
      PieceCard card = add(memory, rails_by_port);
      own_.push_back({memory, way});
      log_debug("device heap: rails have %zu bytes at %zu: %s", piece.nbytes, static_cast<size_t>(piece.at),
                name_of(way));
      return card;
    } catch (const Error& error) {
      why += (why.empty() ? "" : ", and ") + std::string(name_of(way)) + ": " + error.what();
    }
  }
  throw Error(why);
}

std::vector<RemoteRegion> DevicePieces::add_all(Rail& rail) const {
  std::vector<RemoteRegion> regions;
  rail.use_device_heap(heap_);
  for (const Own& own : own_)
    regions.push_back(own.way == GpuWay::staging ? RemoteRegion{} : rail.add_piece(own.memory));
  return regions;
}

void DevicePieces::learn(size_t r, const std::vector<RemoteRegion>& regions) {
  for (std::vector<Peers>& rails : peers_) rails[r].push_back(regions);
}

void DevicePieces::replace(Port port, size_t r, size_t pe, std::span<const RemoteRegion> pieces) {
  Peers& peers = peers_[static_cast<size_t>(port)][r];
  for (size_t i = 0; i < std::min(peers.size(), pieces.size()); ++i) peers[i][pe] = pieces[i];
}

}  // namespace railshmem::ofi

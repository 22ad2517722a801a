// SPDX-License-Identifier: BSD-3-Clause
// A part of the device heap: offsets that are handed out, and behind them memory, chunk by chunk as it is asked for.
#pragma once

#include <cstddef>
#include <optional>

#include "src/base/fd_offers.h"
#include "src/cuda/device_chunks.h"
#include "src/heap/offset_allocator.h"
#include "src/plugin/bootstrap.h"
#include "src/topology/node_layout.h"

namespace railshmem {

/// Offsets are those of the slot of a PE, not of the region. Collective where it says so, as DeviceMemory is. One
/// thread at a time.
class DeviceRegion {
 public:
  struct Range {
    size_t begin;        ///< offset; a multiple of DeviceArena::kAlign, as is nbytes
    size_t nbytes;       ///< that it may grow to
    size_t least_chunk;  ///< each costs every peer a mapping
  };

  DeviceRegion(Bootstrap& bootstrap, const NodeLayout& layout, const Range& range)
      : bootstrap_(bootstrap), layout_(layout), range_(range), offsets_(range.nbytes) {}

  void attach(const cuda::DeviceContext& gpu, cuda::DeviceArena& arena, FdOffers& offers);
  /// Whether the node's PEs map each other's chunks from now on.
  void share(bool shared) noexcept { shared_ = shared; }

  /// Takes the region's first bytes, which are nobody's allocation. False: they do not fit.
  bool reserve(size_t nbytes) { return offsets_.allocate(nbytes).has_value(); }
  /// Collective. Memory for the bytes up to `end` of the region, on all PEs or on none. Throws Error where memory that
  /// is there cannot be shared.
  bool grow_to(size_t end);
  /// Which PE refused the last growth, and why; empty while none has.
  const std::string& refusal() const noexcept { return refusal_; }
  /// Collective. Nothing on all PEs when there is no room or one of them has no memory left.
  std::optional<size_t> allocate(size_t nbytes, size_t align);
  /// Collective. Shrinks, or grows where it is; false, with nothing changed, where it cannot.
  bool try_resize(size_t offset, size_t nbytes);
  bool release(size_t offset) { return offsets_.release(offset - range_.begin); }
  /// Usable bytes; 0 when no allocation begins there.
  size_t size_of(size_t offset) const noexcept { return offsets_.size_of(offset - range_.begin); }
  /// The allocation that holds `offset`; empty when no allocation does.
  std::optional<OffsetAllocator::Extent> find(size_t offset) const noexcept {
    const auto found = offsets_.find(offset - range_.begin);
    if (!found) return std::nullopt;
    return OffsetAllocator::Extent{range_.begin + found->offset, found->nbytes};
  }

  bool contains(size_t offset) const noexcept { return offset - range_.begin < range_.nbytes; }
  size_t used() const noexcept { return offsets_.bytes_used(); }
  size_t backed() const noexcept { return chunks_ ? chunks_->nbytes() : 0; }
  const cuda::DeviceChunks& chunks() const noexcept { return *chunks_; }

 private:
  bool grow_by(size_t nbytes);

  Bootstrap& bootstrap_;
  const NodeLayout& layout_;
  const Range range_;
  OffsetAllocator offsets_;  ///< from the region's begin on
  std::optional<cuda::DeviceChunks> chunks_;
  bool shared_ = false;
  std::string refusal_;
};

}  // namespace railshmem

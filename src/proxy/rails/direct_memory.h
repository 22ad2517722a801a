// SPDX-License-Identifier: BSD-3-Clause
// Memory of GPUs that rails reach without staging: which bytes, of this PE and of its peers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/base/log.h"
#include "src/plugin/flush.h"
#include "src/plugin/segment.h"

namespace railshmem {

/// Extents of the device heap, each a segment of its own for rails. Empty where all GPU memory is staged. The extents
/// change only while no port is in use, so all ports read them without a lock.
class DirectMemory {
 public:
  /// `reached` says for each PE whether rails reach its memory of this extent.
  void add(const DeviceExtent& extent, std::vector<bool> reached, bool mine) {
    const bool all = std::find(reached.begin(), reached.end(), false) == reached.end();
    extents_.push_back({extent.at, extent.nbytes, mine ? extent.base : nullptr, all, std::move(reached)});
  }
  bool empty() const noexcept { return extents_.empty(); }
  size_t size() const noexcept { return extents_.size(); }

  /// How many of the `nbytes` bytes that begin at `place` in the device heap rails reach, with one access for each
  /// extent. 0: rails do not reach the first byte.
  size_t covered(const Remote& place, size_t nbytes) const noexcept {
    size_t n = 0;
    for (size_t more = ~size_t{0}; n < nbytes && more > 0; n += more)
      more = rest({place.pe, place.segment, place.offset + n}).second;
    return std::min(n, nbytes);
  }
  /// How many of the `nbytes` bytes that begin at `local`, memory of this PE, rails reach. 0: not the first byte.
  size_t covered(const std::byte* local, size_t nbytes) const noexcept {
    size_t n = 0;
    for (size_t more = ~size_t{0}; n < nbytes && more > 0; n += more) more = rest(local + n);
    return std::min(n, nbytes);
  }
  bool has(const std::byte* local) const noexcept { return rest(local) > 0; }

  /// Turns a place in the device heap into a place as rails know it. Returns how many bytes one access reaches there.
  size_t redirect(Remote& place) const noexcept {
    const auto [extent, n] = rest(place);
    place.segment = segment_of_extent(extent);
    place.offset -= extents_[extent].at;
    return n;
  }
  /// Turns `place` into a place as rails know it, where it is in the device heap. Returns how many of `nbytes` bytes
  /// one access may move between `place` and `local`, of which one may be host memory.
  size_t clip(Remote& place, const std::byte* local, size_t nbytes) const noexcept {
    if (place.segment == SegmentId::device) nbytes = std::min(nbytes, redirect(place));
    const size_t here = rest(local);
    return here > 0 ? std::min(nbytes, here) : nbytes;
  }

  /// Sets how the data of gets is made visible to this PE's GPU. Where only reads over rails could do this, gets are
  /// staged.
  void use_flush(const FlushChoice& choice) noexcept {
    takes_gets_ = choice.policy == FlushPolicy::none || choice.policy == FlushPolicy::cuda;
    flush_ = choice.policy == FlushPolicy::cuda ? choice.device : nullptr;
  }
  bool takes_gets() const noexcept { return takes_gets_; }
  /// Called when a get has brought the data at `local`: returns when the GPU sees the data.
  void got(const std::byte* local) const noexcept {
    if (flush_ != nullptr && has(local)) run(*flush_);
  }

 private:
  struct Extent {
    uint64_t at;
    size_t nbytes;
    const std::byte* base;  ///< null: this PE stages its own memory
    bool all;               ///< `reached` is true for every PE
    std::vector<bool> reached;
  };

  /// The extent of a place in the device heap, and how many bytes of the extent begin there; 0: rails reach no extent
  /// there.
  std::pair<size_t, size_t> rest(const Remote& place) const noexcept {
    for (size_t i = 0; i < extents_.size(); ++i) {
      const Extent& extent = extents_[i];
      const uint64_t offset = place.offset - extent.at;
      if (offset >= extent.nbytes) continue;
      return {i, extent.all || extent.reached[static_cast<size_t>(place.pe)] ? extent.nbytes - offset : 0};
    }
    return {0, 0};
  }
  size_t rest(const std::byte* local) const noexcept {
    for (const Extent& extent : extents_) {
      const auto offset = reinterpret_cast<uintptr_t>(local) - reinterpret_cast<uintptr_t>(extent.base);
      if (extent.base != nullptr && offset < extent.nbytes) return extent.nbytes - offset;
    }
    return 0;
  }

  std::vector<Extent> extents_;
  bool takes_gets_ = false;
  const DeviceFlush* flush_ = nullptr;  ///< null: gets need no flush
};

}  // namespace railshmem

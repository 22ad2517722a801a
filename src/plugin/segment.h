// SPDX-License-Identifier: BSD-3-Clause
// Symmetric memory as transports see it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "include/shmem/detail/segment.h"

namespace railshmem {

/// For messages.
constexpr const char* name_of(SegmentId id) noexcept {
  if (id == SegmentId::heap) return "heap";
  return id == SegmentId::data ? "data segment" : "device heap";
}

/// staged: rails cannot reach this memory and never get its addresses, neither as local nor as remote memory. Its bytes
/// travel through bounce slots (src/proxy/staging/staging.h).
enum class MemoryKind : uint8_t { host, staged };

/// A part of this PE's symmetric memory. nbytes == 0: the job has no such segment.
struct Segment {
  SegmentId id{};
  std::byte* base = nullptr;
  size_t nbytes = 0;
  MemoryKind kind = MemoryKind::host;  ///< equal on all PEs
};

/// A part of this PE's device heap that rails can register. Rails that have not registered it see staged memory. The
/// heap's memory comes extent by extent; extents have equal offsets and sizes on all PEs.
struct DeviceExtent {
  uint64_t at = 0;  ///< in the segment
  std::byte* base = nullptr;
  size_t nbytes = 0;
  int device = 0;       ///< the GPU's number
  int dma_buf_fd = -1;  ///< of exactly these bytes; -1 where the GPU gives none
};

/// Rails know an extent as a segment of its own, and a place in the extent by its offset from the extent's begin.
constexpr SegmentId segment_of_extent(size_t extent) noexcept {
  return static_cast<SegmentId>(static_cast<size_t>(kSegments) + extent);
}
inline constexpr size_t kMostExtents = 200;  // numbers are bytes, and a reopened rail tells of all in one message

/// A place in a peer's symmetric memory.
struct Remote {
  int pe;
  SegmentId segment;
  uint64_t offset;  ///< bytes from the segment's base
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Symmetric memory as transports see it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace railshmem {

/// Index of a segment on the wire; the same on every PE.
enum class SegmentId : uint8_t { heap, data };
inline constexpr int kSegments = 2;

/// One piece of this PE's symmetric memory. nbytes == 0: the job has no such segment.
struct Segment {
  SegmentId id{};
  std::byte* base = nullptr;
  size_t nbytes = 0;
};

/// A place in a peer's symmetric memory.
struct Remote {
  int pe;
  SegmentId segment;
  uint64_t offset;  ///< bytes from the segment's base
};

}  // namespace railshmem

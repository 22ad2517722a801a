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

/// staged: rails cannot reach it and are never given its addresses, neither as local nor as remote memory; its bytes
/// travel through bounce slots (src/proxy/staging/staging.h).
enum class MemoryKind : uint8_t { host, staged };

/// One piece of this PE's symmetric memory. nbytes == 0: the job has no such segment.
struct Segment {
  SegmentId id{};
  std::byte* base = nullptr;
  size_t nbytes = 0;
  MemoryKind kind = MemoryKind::host;  ///< alike on all PEs
};

/// A place in a peer's symmetric memory.
struct Remote {
  int pe;
  SegmentId segment;
  uint64_t offset;  ///< bytes from the segment's base
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/plugin/flush.h"
#include "src/plugin/segment.h"

namespace railshmem {

/// Host memory that the flush of one rail uses: a cache line, because NICs write into it.
inline constexpr size_t kFlushLine = 64;

/// What an endpoint needs to flush (see Flusher).
struct FlushPlan {
  FlushPolicy policy = FlushPolicy::none;
  const DeviceFlush* device = nullptr;  ///< of policy cuda
  SegmentId segment = SegmentId::heap;  ///< that rails read to flush: in a GPU's memory, if that is what they write
  uint64_t offset = 0;                  ///< of a word of this PE's there that nobody else uses
  std::span<std::byte> lines = {};      ///< kFlushLine bytes for each rail
  double timeout_s = 60;                ///< a flush that takes longer ends the job

  bool uses_rails() const noexcept { return policy == FlushPolicy::read || policy == FlushPolicy::write_read; }
};

}  // namespace railshmem

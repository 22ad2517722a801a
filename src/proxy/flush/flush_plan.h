// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/plugin/flush.h"

namespace railshmem {

/// Host memory that the flush of one rail uses: a cache line, because NICs write into it.
inline constexpr size_t kFlushLine = 64;

/// What an endpoint needs to flush (see Flusher).
struct FlushPlan {
  FlushPolicy policy = FlushPolicy::none;
  const DeviceFlush* device = nullptr;  ///< of policy cuda
  uint64_t offset = 0;                  ///< of a word in this PE's heap that nobody else uses
  std::span<std::byte> lines = {};      ///< kFlushLine bytes for each rail
  double timeout_s = 60;                ///< a flush that takes longer ends the job

  bool uses_rails() const noexcept { return policy == FlushPolicy::read || policy == FlushPolicy::write_read; }
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// The checksum behind every message of a job with SHMEM_CHECK_DATA=1. In such a job all data of host memory travels in
// messages, so memory changes only after its checksum was right.
#pragma once

#include <cstdint>
#include <cstring>

#include "src/base/checksum.h"

namespace railshmem {

/// 4 bytes would do; with 8 the lengths of messages stay multiples of 8.
inline constexpr size_t kSealBytes = 8;

/// Writes the seal of the `nbytes` bytes at `message` behind them.
inline void seal(std::byte* message, size_t nbytes) noexcept {
  const uint64_t sum = crc32c(message, nbytes);
  std::memcpy(message + nbytes, &sum, sizeof sum);
}

/// Whether the last bytes of a message are the seal of those before.
inline bool seal_holds(const std::byte* message, size_t nbytes) noexcept {
  if (nbytes < kSealBytes) return false;
  uint64_t sum = 0;
  std::memcpy(&sum, message + nbytes - kSealBytes, sizeof sum);
  return sum == crc32c(message, nbytes - kSealBytes);
}

}  // namespace railshmem

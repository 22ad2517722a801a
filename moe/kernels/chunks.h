// SPDX-License-Identifier: BSD-3-Clause
// Rows go to other nodes in chunks: each is one put with one signal.
#pragma once

#include <cstdint>

#include "shmem/detail/portable.h"

namespace railshmem::moe {

/// How rows share chunks.
struct Chunks {
  static constexpr uint64_t kNbytes = uint64_t{1} << 20;  ///< a put of this size fills several rails
  static constexpr uint32_t kLeast = 8;                   ///< chunks of max_tokens rows, so that chunks overlap

  RAILSHMEM_HD static uint32_t rows(uint64_t row_nbytes, int32_t max_tokens) {
    const auto most = (static_cast<uint32_t>(max_tokens) + kLeast - 1) / kLeast;
    const uint64_t fit = kNbytes / row_nbytes;
    return fit < 1 ? 1 : fit < most ? static_cast<uint32_t>(fit) : most;
  }
};

/// A chunk is here: the number of its call, and the rows in it.
struct ChunkWord {
  RAILSHMEM_HD static uint64_t of(uint64_t number, uint32_t rows) { return number << 20 | rows; }
  RAILSHMEM_HD static uint32_t rows(uint64_t word) { return static_cast<uint32_t>(word) & 0xfffffu; }
};

}  // namespace railshmem::moe

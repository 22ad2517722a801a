// SPDX-License-Identifier: BSD-3-Clause
// Symmetric memory of the library itself: the first bytes of every PE's heap, before the areas of the teams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace railshmem {

struct ControlBlock {
  uint64_t doorbell;  ///< offset 0: raised to 0, that is left alone, by messages that only wake a proxy thread
  uint64_t pad[7];
  std::byte latest[504];  ///< SHMEM_CHECK: this PE's newest collective call (src/check/collective_call.h)
  uint64_t unused;
  uint64_t
      flush;  ///< what a flush of the rails reads and writes (src/proxy/flush/flusher.h); on a cache line of its own
};
inline constexpr size_t kControlBytes = 4096;
static_assert(sizeof(ControlBlock) <= kControlBytes && std::is_trivially_copyable_v<ControlBlock>);

}  // namespace railshmem

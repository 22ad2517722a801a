// SPDX-License-Identifier: BSD-3-Clause
// How often a test repeats what threads do to each other.
#pragma once

#include <cstdint>

namespace railshmem {

/// A tenth under ThreadSanitizer: it needs to see two accesses once to find that nothing orders them, and pays many
/// times as much for each. What only chance brings about is the other builds' matter, with the whole count.
constexpr uint64_t repetitions(uint64_t count) {
#if defined(__SANITIZE_THREAD__)
  return count / 10;
#else
  return count;
#endif
}

}  // namespace railshmem

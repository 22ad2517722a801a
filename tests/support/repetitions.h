// SPDX-License-Identifier: BSD-3-Clause
// How often a test repeats what threads do to each other.
#pragma once

#include <cstdint>

namespace railshmem {

/// A tenth under ThreadSanitizer, which needs to see two accesses only once to find that nothing orders them, and makes
/// each many times as slow. Errors that only chance brings about are for the other builds, with the whole count.
constexpr uint64_t repetitions(uint64_t count) {
#if defined(__SANITIZE_THREAD__)
  return count / 10;
#else
  return count;
#endif
}

}  // namespace railshmem

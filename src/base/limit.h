// SPDX-License-Identifier: BSD-3-Clause
// Limits of time as users give them: seconds, where 0 means no limit.
#pragma once

#include <cstdint>

namespace railshmem {

inline constexpr uint64_t kNoLimitNs = ~uint64_t{0};

/// A limit in nanoseconds. No wait reaches kNoLimitNs.
constexpr uint64_t limit_ns(double seconds) noexcept {
  constexpr double kLongest = 1e10;  // three centuries, which fit
  if (!(seconds > 0) || seconds > kLongest) return kNoLimitNs;
  return static_cast<uint64_t>(seconds * 1e9);
}

}  // namespace railshmem

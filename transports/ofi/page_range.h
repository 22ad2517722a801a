// SPDX-License-Identifier: BSD-3-Clause
// Whole pages of this process's memory: what is registered and watched.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "src/base/align.h"

namespace railshmem::ofi {

/// Addresses from `begin` up to, not including, `end`.
struct PageRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;

  size_t nbytes() const noexcept { return end - begin; }
  bool contains(const PageRange& other) const noexcept { return begin <= other.begin && other.end <= end; }
  bool overlaps(const PageRange& other) const noexcept { return begin < other.end && other.begin < end; }
  std::byte* base() const noexcept { return reinterpret_cast<std::byte*>(begin); }
  bool operator==(const PageRange&) const = default;
};

/// Everything there is: for a watcher that lost count.
inline constexpr PageRange kAllMemory{0, ~uintptr_t{0}};

inline const size_t kPageBytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));

/// The pages that hold [p, p + nbytes). A page is mapped as a whole, so these are all there when the bytes are.
inline PageRange pages_of(const void* p, size_t nbytes) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(p);
  return {align_down(begin, kPageBytes), align_up(begin + nbytes, kPageBytes)};
}

}  // namespace railshmem::ofi

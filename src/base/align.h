// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace railshmem {

constexpr bool is_power_of_two(size_t n) noexcept {
  return n != 0 && (n & (n - 1)) == 0;
}
/// Rounds up to a multiple of `unit`, a power of two.
constexpr size_t align_up(size_t n, size_t unit) noexcept {
  return (n + unit - 1) & ~(unit - 1);
}
constexpr size_t align_down(size_t n, size_t unit) noexcept {
  return n & ~(unit - 1);
}

inline constexpr size_t kCacheLine = 64;

}  // namespace railshmem

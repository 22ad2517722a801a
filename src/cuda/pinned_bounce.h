// SPDX-License-Identifier: BSD-3-Clause
// The bounce memory of a PE, pinned for one GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/cuda/pinned.h"
#include "src/plugin/copier.h"

namespace railshmem::cuda {

inline bool is_inside(const std::byte* place, std::span<const std::byte> range) noexcept {
  return reinterpret_cast<uintptr_t>(place) - reinterpret_cast<uintptr_t>(range.data()) < range.size();
}

class PinnedBounce {
 public:
  /// Throws Error.
  PinnedBounce(const DeviceContext& gpu, const BounceMemory& bounce);

  std::span<std::byte> own() const noexcept { return own_; }
  bool has(const std::byte* place) const noexcept {
    return is_inside(place, own_) || (!neighbours_.empty() && neighbour_has(place));
  }

 private:
  bool neighbour_has(const std::byte* place) const noexcept;

  const std::span<std::byte> own_;
  std::vector<std::span<std::byte>> neighbours_;  ///< by address
  std::vector<HostRegistration> pinned_;
};

}  // namespace railshmem::cuda

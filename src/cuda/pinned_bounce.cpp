// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/pinned_bounce.h"

#include <algorithm>

#include "src/base/error.h"

namespace railshmem::cuda {

PinnedBounce::PinnedBounce(const DeviceContext& gpu, const BounceMemory& bounce)
    : own_(bounce.own), neighbours_(bounce.neighbours.begin(), bounce.neighbours.end()) {
  std::sort(neighbours_.begin(), neighbours_.end(), [](auto a, auto b) { return a.data() < b.data(); });
  pinned_.reserve(1 + neighbours_.size());
  pinned_.emplace_back(gpu, own_);
  try {
    for (const std::span<std::byte> area : neighbours_) pinned_.emplace_back(gpu, area);
  } catch (const Error& error) {
    throw Error(text("%s; SHMEM_STAGING_SHARED=0 does without the slots of other PEs", error.what()));
  }
}

bool PinnedBounce::neighbour_has(const std::byte* place) const noexcept {
  const auto behind = std::upper_bound(neighbours_.begin(), neighbours_.end(), place,
                                       [](const std::byte* at, auto area) { return at < area.data(); });
  return behind != neighbours_.begin() && is_inside(place, *(behind - 1));
}

}  // namespace railshmem::cuda

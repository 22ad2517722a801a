// SPDX-License-Identifier: BSD-3-Clause
#include "src/topology/place.h"

#include <algorithm>

namespace railshmem {

uint32_t distance(const Place& a, const Place& b) noexcept {
  const auto parted = std::mismatch(a.bridges.begin(), a.bridges.end(), b.bridges.begin(), b.bridges.end());
  if (parted.first != a.bridges.begin()) {
    const auto between = (a.bridges.end() - parted.first) + (b.bridges.end() - parted.second);
    return std::min(static_cast<uint32_t>(between), kSameNuma - 1);
  }
  if (a.numa >= 0 && a.numa == b.numa) return kSameNuma;
  if (a.package < 0 || b.package < 0) return kUnknownDistance;
  return a.package == b.package ? kSamePackage : kOtherPackage;
}

const char* distance_text(uint32_t distance) noexcept {
  if (distance < kSameNuma) return "same PCIe switch";
  if (distance < kSamePackage) return "same NUMA node";
  if (distance < kOtherPackage) return "same package";
  return distance < kUnknownDistance ? "another package" : "distance unknown";
}

std::string place_text(const Place& place) {
  const std::string package = "package " + std::to_string(place.package);
  return place.numa < 0 ? package : "NUMA node " + std::to_string(place.numa) + " of " + package;
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Where a device or a PE sits in the machine, and how far apart two of them are. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace railshmem {

/// A PE's place is that of the cores it may run on; with a GPU it will be that of the GPU.
struct Place {
  int package = -1;                  ///< socket; -1: unknown, or more than one
  int numa = -1;                     ///< NUMA node; -1: unknown, or more than one
  std::vector<std::string> bridges;  ///< PCI bridges above a device, from the root down; none for cores
};

/// Bounds of distance(): below kSameNuma it counts the bridges between two devices of one root port.
inline constexpr uint32_t kSameNuma = 100;
inline constexpr uint32_t kSamePackage = 200;
inline constexpr uint32_t kOtherPackage = 300;
inline constexpr uint32_t kUnknownDistance = 400;

uint32_t distance(const Place& a, const Place& b) noexcept;
/// "same PCIe switch" and the like.
const char* distance_text(uint32_t distance) noexcept;
/// "NUMA node 1 of package 0", of a place whose package is known.
std::string place_text(const Place& place);

}  // namespace railshmem

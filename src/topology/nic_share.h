// SPDX-License-Identifier: BSD-3-Clause
// How the PEs of a host share its NICs: a pure function, so that every PE comes to the same answer by itself.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/topology/place.h"

namespace railshmem {

/// NICs of one PE as numbers into the list of places.
struct NicShare {
  std::vector<size_t> slice;  ///< what is dealt to this PE, nearest first
  std::vector<size_t> rails;  ///< what it uses, in order: the slice, cut or extended to the number asked for
};

/// Rails of a PE when no number is asked for. Beyond it a PE's own memory and PCI link are the limit, while
/// connections and registrations go on growing.
inline constexpr size_t kAutoRails = 4;

/// The share of each PE. With at least as many NICs as PEs the slices are disjoint and of equal size; a NIC left over
/// goes to a PE that has it as near as those of its slice. With fewer, each PE has one of those nearest to it, and
/// these are shared evenly. `max_rails` 0: the slice, at most kAutoRails; else so many, also from beyond the slice.
std::vector<NicShare> share_nics(std::span<const Place> nics, std::span<const Place> pes, size_t max_rails);

}  // namespace railshmem

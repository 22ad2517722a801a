// SPDX-License-Identifier: BSD-3-Clause
// How the PEs of a host share its NICs: a pure function, so that all PEs reach one answer without talking.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/topology/place.h"

namespace railshmem {

/// NICs of one PE as numbers into the list of places.
struct NicShare {
  std::vector<size_t> slice;  ///< NICs dealt to this PE, nearest first
  std::vector<size_t> rails;  ///< NICs that it uses, in order: the slice, cut or extended to the number asked for
};

/// Rails of a PE when no number is asked for. Beyond it a PE's own memory and PCI link are the limit, while
/// connections and registrations go on growing.
inline constexpr size_t kAutoRails = 4;

/// The share of each PE. With at least as many NICs as PEs, the slices are disjoint and of equal size. A NIC left over
/// goes to a PE that has it as near as the NICs of its slice. With fewer NICs than PEs, each PE has one of the NICs
/// nearest to it, and these are shared evenly. `max_rails` 0: the rails are the slice, at most kAutoRails; else so many
/// rails, also from beyond the slice.
std::vector<NicShare> share_nics(std::span<const Place> nics, std::span<const Place> pes, size_t max_rails);

}  // namespace railshmem

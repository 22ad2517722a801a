// SPDX-License-Identifier: BSD-3-Clause
// SHMEM_CHECK for collectives of active sets.
#pragma once

#include "src/active/active_set.h"
#include "src/check/collective.h"

namespace railshmem::check {

/// What a call passes besides the set and pSync. Without nelems it moves no data.
struct ActiveArguments {
  const void* dest = nullptr;
  const void* source = nullptr;
  size_t nelems = 0;
  size_t element = 0;
  int root = -1;            ///< -1: the call has no root
  bool same_nelems = true;  ///< for all members
  InPlace in_place = InPlace::forbidden;
};

/// Checks the buffers of this PE. Where `world` is given, sets of all PEs have an area, that of the world: then the
/// call is compared between members, and pSync must be in order.
void check_active_call(Team* world, const ActiveSet& set, const ActiveTriplet& triplet,
                       const ActiveArguments& arguments) noexcept;

}  // namespace railshmem::check

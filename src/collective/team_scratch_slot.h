// SPDX-License-Identifier: BSD-3-Clause
// How the members of a team come to their scratch slot.
#pragma once

#include <span>

#include "src/team/team.h"

namespace railshmem {

/// Where a collective computes.
enum class Memory : uint8_t { host, device };

/// The team's scratch slot in this kind of memory: one symmetric address on all members. Empty where some member has
/// none. Collective at a team's first call with this kind; later calls are local. The first half is for what other
/// nodes send to be reduced, the second for data that is on its way from or to memory that others do not reach.
std::span<std::byte> scratch_slot_of(Team& team, const char* function, Memory memory) noexcept;

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// How the members of a team come to know each other's landing lots.
#pragma once

#include "src/team/landing_pool.h"
#include "src/team/team.h"

namespace railshmem {

/// Where a collective computes.
enum class Memory : uint8_t { host, device };
inline constexpr int kMemories = 2;

/// The members' lots in this kind of memory, or null where some member has none. Collective at a team's first call with
/// this kind; later calls are local.
const Landing* landing_of(Team& team, const char* function, Memory memory) noexcept;

}  // namespace railshmem

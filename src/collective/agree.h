// SPDX-License-Identifier: BSD-3-Clause
// How the members of a team decide something together: all members vote, and all learn one result.
#pragma once

#include <array>
#include <cstdint>

#include "src/team/team.h"

namespace railshmem {

/// One member's vote, and the result: bits that all have set, and the largest number.
struct Ballot {
  std::array<uint64_t, 6> common{};
  uint64_t highest = 0;
};
static_assert(sizeof(Ballot) <= sizeof(ExchangeLine::payload));

/// A collective: returns when every member has voted. Orders this PE's stores before the members' return.
Ballot agree(Team& team, const char* function, const Ballot& mine) noexcept;

/// A vote of yes or no: whether all members said yes.
inline bool all_agree(Team& team, const char* function, bool mine) noexcept {
  Ballot ballot;
  ballot.common[0] = mine ? 1 : 0;
  return agree(team, function, ballot).common[0] != 0;
}

}  // namespace railshmem

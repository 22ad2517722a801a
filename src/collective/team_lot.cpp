// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/team_lot.h"

#include "src/collective/agree.h"

namespace railshmem {

std::span<std::byte> lot_of(Team& team, const char* function, Memory memory) noexcept {
  Lots* const lots = team.state.lots[static_cast<size_t>(memory)];
  TeamLot& lot = team.lots[static_cast<size_t>(memory)];
  if (!lot.asked) {
    lot.asked = true;
    if (lots) lot.mine = lots->take(team.lot_number());
    Ballot ballot;
    ballot.common[0] = lot.mine ? 1 : 0;
    lot.usable = agree(team, function, ballot).common[0] != 0;
  }
  if (!lot.usable) return {};
  return {lot.mine, lots->nbytes()};
}

}  // namespace railshmem

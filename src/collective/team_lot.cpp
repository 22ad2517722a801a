// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/team_lot.h"

#include <bit>

#include "src/collective/agree.h"

namespace railshmem {
namespace {

uint64_t agree_on(Team& team, const char* function, uint64_t bits) noexcept {
  Ballot ballot;
  ballot.common[0] = bits;
  return agree(team, function, ballot).common[0];
}

/// Takes a lot that is free on all members; null if none exists. Another thread of some member may take the lot
/// for its team meanwhile, or have no memory for it: then the members try another one.
std::byte* take_together(Team& team, const char* function, Lots* lots) noexcept {
  for (uint64_t untried = ~uint64_t{0};;) {
    const uint64_t free = agree_on(team, function, lots ? lots->free() & untried : 0);
    if (free == 0) return nullptr;
    const size_t from = team.first_lot() % lots->count();
    const uint64_t behind = free >> from << from;
    const auto number = static_cast<size_t>(std::countr_zero(behind != 0 ? behind : free));
    std::byte* const mine = lots->take(number);
    if (all_agree(team, function, mine != nullptr)) return mine;
    if (mine != nullptr) lots->give_back(mine);
    untried &= ~(uint64_t{1} << number);
  }
}

}  // namespace

std::span<std::byte> lot_of(Team& team, const char* function, Memory memory) noexcept {
  Lots* const lots = team.state.lots[static_cast<size_t>(memory)];
  TeamLot& lot = team.lots[static_cast<size_t>(memory)];
  if (!lot.asked) {
    lot.asked = true;
    lot.mine = take_together(team, function, lots);
  }
  if (lot.mine == nullptr) return {};
  return {lot.mine, lots->nbytes()};
}

}  // namespace railshmem

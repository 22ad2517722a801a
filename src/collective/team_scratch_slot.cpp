// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/team_scratch_slot.h"

#include <bit>

#include "src/collective/agree.h"

namespace railshmem {
namespace {

uint64_t agree_on(Team& team, const char* function, uint64_t bits) noexcept {
  Ballot ballot;
  ballot.common[0] = bits;
  return agree(team, function, ballot).common[0];
}

/// Takes a scratch slot that is free on all members; null if none exists. Another thread of some member may take the
/// scratch slot for its team meanwhile, or have no memory for it: then the members try another one.
std::byte* take_together(Team& team, const char* function, ScratchSlots* scratch_slots) noexcept {
  for (uint64_t untried = ~uint64_t{0};;) {
    const uint64_t free = agree_on(team, function, scratch_slots ? scratch_slots->free() & untried : 0);
    if (free == 0) return nullptr;
    const size_t from = team.first_scratch_slot() % scratch_slots->count();
    const uint64_t behind = free >> from << from;
    const auto number = static_cast<size_t>(std::countr_zero(behind != 0 ? behind : free));
    std::byte* const mine = scratch_slots->take(number);
    if (all_agree(team, function, mine != nullptr)) return mine;
    if (mine != nullptr) scratch_slots->give_back(mine);
    untried &= ~(uint64_t{1} << number);
  }
}

}  // namespace

std::span<std::byte> scratch_slot_of(Team& team, const char* function, Memory memory) noexcept {
  ScratchSlots* const scratch_slots = team.state.scratch_slots[static_cast<size_t>(memory)];
  TeamScratchSlot& slot = team.scratch_slots[static_cast<size_t>(memory)];
  if (!slot.asked) {
    slot.asked = true;
    slot.mine = take_together(team, function, scratch_slots);
  }
  if (slot.mine == nullptr) return {};
  return {slot.mine, scratch_slots->nbytes()};
}

}  // namespace railshmem

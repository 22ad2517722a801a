// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/landing.h"

#include "src/collective/blocks_network.h"

namespace railshmem {
namespace {

constexpr uint64_t kNone = ~uint64_t{0};

/// Every member's offset of its lot from its segment's base.
void tell(Team& team, const char* function, Landing& landing, uintptr_t base) noexcept {
  const uint64_t mine = landing.mine ? reinterpret_cast<uintptr_t>(landing.mine) - base : kNone;
  const uint64_t number = team.exchanges + 1;
  // The payloads of this exchange's lines are the places of the blocks, one line apart; each lies behind its flag.
  std::byte* const first = team.mine(team.area.exchange(number, 0)) + offsetof(ExchangeLine, payload);
  blocks_by_rails(
      {team, function, first, reinterpret_cast<const std::byte*>(&mine), sizeof mine, 0, sizeof(ExchangeLine)});
  std::vector<std::byte*> of(static_cast<size_t>(team.size()));
  for (int rank = 0; rank < team.size(); ++rank) {
    uint64_t offset = kNone;
    std::memcpy(&offset, first + static_cast<size_t>(rank) * sizeof(ExchangeLine), sizeof offset);
    if (offset == kNone) return;
    of[static_cast<size_t>(rank)] = reinterpret_cast<std::byte*>(base + offset);
  }
  landing.of = std::move(of);
}

}  // namespace

const Landing* landing_of(Team& team, const char* function, Memory memory) noexcept {
  Landing& landing = team.landing[static_cast<size_t>(memory)];
  if (!landing.asked) {
    landing.asked = true;
    LandingPool* const pool = team.state.landings[static_cast<size_t>(memory)];
    if (pool) landing.mine = pool->take();
    const SegmentId segment = memory == Memory::host ? SegmentId::heap : SegmentId::device;
    tell(team, function, landing, team.state.segment[static_cast<size_t>(segment)].base);
  }
  return landing.of.empty() ? nullptr : &landing;
}

}  // namespace railshmem

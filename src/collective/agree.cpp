// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/agree.h"

#include <cstring>

#include "src/collective/flags.h"

namespace railshmem {
namespace {

void combine(Ballot& all, const Ballot& other) noexcept {
  for (size_t i = 0; i < all.common.size(); ++i) all.common[i] &= other.common[i];
  all.highest = std::max(all.highest, other.highest);
}

}  // namespace

/// Dissemination: after round r a ballot covers 2^(r+1) members. Some count twice at the end, which changes neither an
/// AND nor a maximum. A member that returns has heard of all others, as a
/// full exchange demands, so lines may be used in turn.
Ballot agree(Team& team, const char* function, const Ballot& mine) noexcept {
  const uint64_t number = begin_exchange(team);
  const int size = team.size();
  std::array<Ballot, kSyncRounds> sent;  // the network may read each of them until settle()
  Ballot all = mine;
  for (int r = 0, distance = 1; distance < size; ++r, distance *= 2) {
    const int to = (team.rank + distance) % size;
    const int from = (team.rank - distance + size) % size;
    Ballot& voted = sent[static_cast<size_t>(r)] = all;
    const size_t here = team.area.exchange(number, team.rank);
    push(team, function, to, team.mine(here + offsetof(ExchangeLine, payload)), &voted, sizeof voted,
         here + offsetof(ExchangeLine, number), number);
    const size_t theirs = team.area.exchange(number, from);
    await(team, function, from, theirs + offsetof(ExchangeLine, number), number);
    Ballot heard;
    std::memcpy(&heard, team.mine(theirs + offsetof(ExchangeLine, payload)), sizeof heard);
    combine(all, heard);
  }
  settle(team);
  return all;
}

}  // namespace railshmem

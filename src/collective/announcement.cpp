// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/announcement.h"

#include <algorithm>

#include "src/collective/blocks_network.h"
#include "src/rma/put_get.h"

namespace railshmem {

Announcements::Announcements(Team& team, const char* function, const void* source, size_t nbytes) noexcept
    : team_(team), number_(team.exchanges + 1) {
  Announcement mine{nbytes, 0, {}};
  if (nbytes > 0 && mine.is_short()) std::memcpy(mine.data, source, nbytes);
  const size_t used = offsetof(Announcement, data) + (mine.is_short() ? nbytes : 0);
  // The lines of this exchange are the places of the blocks: a line apart, and the flags lie before them.
  std::byte* const first = team.mine(team.area.exchange(number_, 0)) + offsetof(ExchangeLine, payload);
  const Blocks lines{team, function, first, reinterpret_cast<const std::byte*>(&mine), used, 0, sizeof(ExchangeLine)};
  const Operand places(team.state, first, used);
  if (reach_of(team, places) == Reach::node)
    blocks_by_push(lines, places);
  else
    blocks_by_rails(lines);
  for (int rank = 0; rank < team.size(); ++rank) {
    Announcement& one = const_cast<Announcement&>(of(rank));
    one.place = total_;
    all_short_ &= one.is_short();
    if (__builtin_add_overflow(total_, one.nbytes, &total_)) die_overflow(function, one.nbytes, 1, team.pes.pe(rank));
  }
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/announcement.h"

#include <algorithm>

#include "src/collective/blocks.h"
#include "src/rma/put_get.h"

namespace railshmem {

Announcements::Announcements(Team& team, const char* function, const void* source, size_t nbytes) noexcept
    : team_(team), number_(team.exchanges + 1) {
  Announcement mine{nbytes, 0, {}};
  if (nbytes > 0 && mine.is_short()) move_block(team.state.device, mine.data, source, nbytes);
  // A member that passes on another's line must know its length, so over the network all lines have one length.
  const bool one_node = team.nodes.one_node();
  const size_t used = !one_node ? sizeof mine : offsetof(Announcement, data) + (mine.is_short() ? nbytes : 0);
  // The payloads of this exchange's lines are the places of the blocks, one line apart; each is behind its flag.
  std::byte* const first = team.mine(team.area.exchange(number_, 0)) + offsetof(ExchangeLine, payload);
  const Blocks lines{team, function, first, reinterpret_cast<const std::byte*>(&mine), used, 0, sizeof(ExchangeLine)};
  if (one_node)  // the heap, where the lines lie, is always mapped
    blocks_by_push(lines, Operand(team.state, first, used));
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

// SPDX-License-Identifier: BSD-3-Clause
// How a collective in chunks spends its time: it does whatever can be done, in any order, and waits when nothing can.
#pragma once

#include "src/rma/waiter.h"
#include "src/team/team.h"

namespace railshmem {

/// What one turn has found.
enum class ChunkTurn : uint8_t { moved, idle, over };

/// Calls `turn()` until it is over. `whom()`, the rank for which this PE waits, is asked when nothing moves.
template <class Turn, class Whom>
void run_chunks(Team& team, const char* function, Turn&& turn, Whom&& whom) noexcept {
  for (;;) {
    ChunkTurn found = turn();
    if (found == ChunkTurn::over) return;
    if (found == ChunkTurn::moved) {
      net_progress(*team.state.network);
      continue;
    }
    // Each time that nothing moves is a wait of its own, with its deadline.
    Waiter waiter(team.state,
                  {function, team.pes.pe(whom()), true,
                   [](const void* members) { return static_cast<const Team*>(members)->absent_here(); }, &team});
    for (; found == ChunkTurn::idle; found = turn()) waiter.turn();
    if (found == ChunkTurn::over) return;
  }
}

}  // namespace railshmem

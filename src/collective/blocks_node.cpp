// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/blocks_node.h"

#include "src/collective/flags.h"
#include "src/rma/copy.h"

namespace railshmem {
void blocks_by_line(const Blocks& blocks) noexcept {
  Team& team = blocks.team;
  const uint64_t number = begin_exchange(team);
  const size_t my_line = team.area.exchange(number, team.rank);
  for (int i = 1; i < team.size(); ++i) {
    const int to = ahead(team, team.rank, i);
    copy_block(team.here(to, my_line) + offsetof(ExchangeLine, payload), blocks.block_for(to), blocks.nbytes);
    raise_here(team, to, my_line, number);
  }
  blocks.keep_own();
  for (int i = 1; i < team.size(); ++i) {
    const int from = behind(team, team.rank, i);
    const size_t line = team.area.exchange(number, from);
    await(team, blocks.function, from, line, number);
    copy_block(blocks.place_of(from), team.mine(line) + offsetof(ExchangeLine, payload), blocks.nbytes);
  }
}

void blocks_by_push(const Blocks& blocks, const Operand& dest) noexcept {
  Team& team = blocks.team;
  const size_t my_place = static_cast<size_t>(team.rank) * blocks.place_step;
  exchange_by_push(
      team, blocks.function,
      [&](int to) noexcept { copy_block(dest.of(team, to) + my_place, blocks.block_for(to), blocks.nbytes); },
      [&]() noexcept { blocks.keep_own(); });
}

void blocks_by_pull(const Blocks& blocks, const Operand& source) noexcept {
  Team& team = blocks.team;
  const size_t my_block = static_cast<size_t>(team.rank) * blocks.step;
  exchange_by_pull(
      team, blocks.function,
      [&](int from) noexcept { copy_block(blocks.place_of(from), source.of(team, from) + my_block, blocks.nbytes); },
      [&]() noexcept { blocks.keep_own(); });
}

}  // namespace railshmem

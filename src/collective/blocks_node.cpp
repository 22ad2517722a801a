// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/blocks.h"

#include "src/collective/flags.h"
#include "src/rma/copy.h"

namespace railshmem {
void blocks_by_line(const Blocks& blocks) noexcept {
  Team& team = blocks.team;
  DeviceAccess* const device = team.state.device;
  const uint64_t number = begin_exchange(team);
  const size_t my_line = team.area.exchange(number, team.rank);
  for (int i = 1; i < team.size(); ++i) {
    const int to = ahead(team, team.rank, i);
    move_block(device, team.here(to, my_line) + offsetof(ExchangeLine, payload), blocks.block_for(to), blocks.nbytes);
    raise_here(team, to, my_line, number);
  }
  blocks.keep_own();
  for (int i = 1; i < team.size(); ++i) {
    const int from = behind(team, team.rank, i);
    const size_t line = team.area.exchange(number, from);
    await(team, blocks.function, from, line, number);
    move_block(device, blocks.place_of(from), team.mine(line) + offsetof(ExchangeLine, payload), blocks.nbytes);
  }
}

void blocks_by_push(const Blocks& blocks, const Operand& dest) noexcept {
  Team& team = blocks.team;
  const size_t my_place = static_cast<size_t>(team.rank) * blocks.place_step;
  exchange_by_push(
      team, blocks.function,
      [&](CopyBatch& copies, int to) noexcept {
        copies.add(dest.of(team, to) + my_place, blocks.block_for(to), blocks.nbytes);
      },
      [&](CopyBatch& copies) noexcept {
        copies.add_own(blocks.place_of(team.rank), blocks.block_for(team.rank), blocks.nbytes);
      });
}

void blocks_by_pull(const Blocks& blocks, const Operand& source) noexcept {
  Team& team = blocks.team;
  const size_t my_block = static_cast<size_t>(team.rank) * blocks.step;
  exchange_by_pull(
      team, blocks.function,
      [&](CopyBatch& copies, int from) noexcept {
        copies.add(blocks.place_of(from), source.of(team, from) + my_block, blocks.nbytes);
      },
      [&](CopyBatch& copies) noexcept {
        copies.add_own(blocks.place_of(team.rank), blocks.block_for(team.rank), blocks.nbytes);
      });
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/blocks.h"

#include "src/collective/chunk_loop.h"
#include "src/collective/spread.h"

namespace railshmem {
namespace {

void gather(const Blocks& blocks, const Chunks& chunks, Background& background, Arrivals* arrivals) noexcept {
  Team& team = blocks.team;
  const TeamNodes& nodes = team.nodes;
  const size_t all = blocks.nbytes * static_cast<size_t>(team.size());
  NodeMeeting come(team);
  Spread own(team, blocks.function, background, come, blocks.dest, all, blocks.place_of(team.rank), blocks.source,
             chunks, arrivals);
  PassOn others(team, background, come, blocks.dest, all, arrivals);
  const int count = static_cast<int>(nodes.leaders.size());
  for (int i = 1; i < count; ++i) {
    const int node = (nodes.my_node - i + count) % count;
    for (int index = nodes.my_index; index < nodes.size_of(node); index += nodes.size_here())
      others.expect(nodes.partner(node, index), blocks.place_of(nodes.partner(node, index)), chunks);
  }
  run_chunks(
      team, blocks.function,
      [&] {
        bool moved = own.turn(chunks.count());
        moved |= others.turn();
        if (own.over() && others.over()) return ChunkTurn::over;
        return moved ? ChunkTurn::moved : ChunkTurn::idle;
      },
      [&] {
        if (!come.all_have_come()) return come.missing();
        for (const int rank : {others.missing(), own.missing()})
          if (rank >= 0) return rank;
        return team.rank;  // its own copies
      });
  settle(team);
  NodeMeeting(team).await_all(blocks.function);  // each has all that the others pass on
}

}  // namespace

void blocks_by_chunks(const Blocks& blocks) noexcept {
  Background background(blocks.team, blocks.function);
  gather(blocks, cut(blocks.team, blocks.nbytes), background, nullptr);
}

void pieces_by_chunks(const Blocks& blocks, const PieceConsumers& consumers) noexcept {
  Background background(blocks.team, blocks.function);
  Arrivals arrivals(blocks.team, background, consumers.arrived, consumers.number, consumers.pieces_of(blocks.nbytes));
  gather(blocks, {blocks.nbytes, consumers.piece_nbytes}, background, &arrivals);
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/blocks.h"

#include "src/collective/flags.h"

namespace railshmem {
namespace {

void send_own(const Blocks& blocks, int to, uint64_t number) noexcept {
  Team& team = blocks.team;
  deliver(team, blocks.function, to, blocks.place_of(team.rank), blocks.block_for(to), blocks.nbytes,
          team.area.exchange(number, team.rank), number);
}

void send_within_node(const Blocks& blocks, uint64_t number) noexcept {
  const TeamNodes& nodes = blocks.team.nodes;
  for (int i = 1; i < nodes.size_here(); ++i) {
    const int index = (nodes.my_index + i) % nodes.size_here();
    send_own(blocks, nodes.members[static_cast<size_t>(index)], number);
  }
}

}  // namespace

void blocks_by_sending(const Blocks& blocks) noexcept {
  Team& team = blocks.team;
  const TeamNodes& nodes = team.nodes;
  const uint64_t number = begin_exchange(team);
  // First what takes long; it travels while this PE copies within its node.
  for (int i = 1; i < team.size(); ++i) {
    const int to = ahead(team, team.rank, i);
    if (nodes.node_of[static_cast<size_t>(to)] != nodes.my_node) send_own(blocks, to, number);
  }
  send_within_node(blocks, number);
  blocks.keep_own();
  await_exchange(team, blocks.function, number);
  finish_sends(team, blocks.nbytes);
}

void blocks_by_rails(const Blocks& blocks) noexcept {
  Team& team = blocks.team;
  const TeamNodes& nodes = team.nodes;
  const int count = static_cast<int>(nodes.leaders.size());
  const uint64_t number = begin_exchange(team);
  for (int i = 1; i < count; ++i) send_own(blocks, nodes.partner((nodes.my_node + i) % count, nodes.my_index), number);
  send_within_node(blocks, number);
  blocks.keep_own();
  // Pass on what came to this PE for its node: the flag is the sender's, so the others need not know who did it.
  for (int i = 1; i < count; ++i) {
    const int node = (nodes.my_node - i + count) % count;
    for (int index = nodes.my_index; index < nodes.size_of(node); index += nodes.size_here()) {
      const int from = nodes.partner(node, index);
      const size_t line = team.area.exchange(number, from);
      await(team, blocks.function, from, line, number);
      for (const int to : nodes.members) {
        if (to == team.rank) continue;
        deliver(team, blocks.function, to, blocks.place_of(from), blocks.place_of(from), blocks.nbytes, line, number);
      }
    }
  }
  await_exchange(team, blocks.function, number);
  finish_sends(team, blocks.nbytes);
}

}  // namespace railshmem

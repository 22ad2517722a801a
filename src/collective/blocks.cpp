// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/blocks.h"

#include "src/collective/blocks_network.h"
#include "src/collective/blocks_node.h"
#include "src/collective/operand.h"
#include "src/rma/put_get.h"

namespace railshmem {
namespace {

/// A source that the others cannot reach is pushed.
void exchange_blocks(Collective collective, const Blocks& blocks) noexcept {
  Team& team = blocks.team;
  const auto members = static_cast<size_t>(team.size());
  const size_t all = total_bytes(blocks.function, blocks.nbytes, members, team.state.me);
  const Operand dest = find_dest(team, blocks.function, blocks.dest, all);
  if (members == 1) return blocks.keep_own();
  const Reach reach = reach_of(team, dest);
  switch (team.state.choice->pick(collective, reach, blocks.nbytes, team.size())) {
    case Algorithm::line:
      // Copy engines are as fast over the link as to the host's memory.
      if (blocks.nbytes <= sizeof ExchangeLine::payload && !dest.on_device(team.state)) return blocks_by_line(blocks);
      return blocks_by_push(blocks, dest);
    case Algorithm::pull: {
      const Operand source(team.state, blocks.source, blocks.step ? all : blocks.nbytes);
      if (source.mapped(team.state)) return blocks_by_pull(blocks, source);
      return blocks_by_push(blocks, dest);
    }
    case Algorithm::rails:
      return blocks_by_rails(blocks);
    case Algorithm::direct:
      return blocks_by_sending(blocks);
    default:
      return blocks_by_push(blocks, dest);
  }
}

}  // namespace

void fcollect(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept {
  exchange_blocks(Collective::fcollect, {team, function, static_cast<std::byte*>(dest),
                                         static_cast<const std::byte*>(source), nbytes, 0, nbytes});
}

void alltoall(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept {
  exchange_blocks(Collective::alltoall, {team, function, static_cast<std::byte*>(dest),
                                         static_cast<const std::byte*>(source), nbytes, nbytes, nbytes});
}

}  // namespace railshmem

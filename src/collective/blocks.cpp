// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/blocks.h"

#include "src/collective/collectives.h"
#include "src/collective/operand.h"
#include "src/rma/put_get.h"

namespace railshmem {
namespace {

/// When the memory of another member may be touched: before that member has come, or only then.
enum class Begin : uint8_t { at_once, when_come };

/// Whether links may carry them: chunks are passed on by load and store.
bool goes_in_chunks(const Blocks& blocks, const Operand& dest) noexcept {
  return blocks.step == 0 && !blocks.team.nodes.one_node() && dest.mapped(blocks.team.state);
}

/// A source that the others cannot reach is pushed.
void exchange_blocks(Collective collective, const Blocks& blocks, Begin begin) noexcept {
  Team& team = blocks.team;
  const auto members = static_cast<size_t>(team.size());
  const size_t all = total_bytes(blocks.function, blocks.nbytes, members, team.state.me);
  const Operand dest = find_dest(team, blocks.function, blocks.dest, all);
  if (members == 1) return blocks.keep_own();
  const Reach reach = reach_of(team, dest);
  const Algorithm algorithm = team.state.choice->pick(collective, reach, blocks.nbytes, team.size());
  if (goes_in_chunks(blocks, dest) && (algorithm == Algorithm::links || begin == Begin::when_come))
    return blocks_by_chunks(blocks);
  if (algorithm == Algorithm::gather && blocks_by_gathering(blocks)) return;
  if (begin == Begin::when_come) sync(team, blocks.function);
  switch (algorithm) {
    case Algorithm::line:
      // Copy engines are as fast over the link as to the host's memory.
      if (blocks.nbytes <= sizeof ExchangeLine::payload && !dest.on_device(team.state)) return blocks_by_line(blocks);
      return blocks_by_push(blocks, dest);
    case Algorithm::pull: {
      const Operand source(team.state, blocks.source, blocks.step ? all : blocks.nbytes);
      if (source.mapped(team.state)) return blocks_by_pull(blocks, source);
      return blocks_by_push(blocks, dest);
    }
    case Algorithm::links:  // between members of a node that do not reach each other's memory
    case Algorithm::rails:
      return blocks_by_rails(blocks);
    case Algorithm::direct:
    case Algorithm::gather:  // of blocks that are too long for it
      return blocks_by_sending(blocks);
    default:
      return blocks_by_push(blocks, dest);
  }
}

Blocks for_all(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept {
  return {team, function, static_cast<std::byte*>(dest), static_cast<const std::byte*>(source), nbytes, 0, nbytes};
}
Blocks for_each(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept {
  return {team, function, static_cast<std::byte*>(dest), static_cast<const std::byte*>(source), nbytes, nbytes, nbytes};
}

}  // namespace

void fcollect(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept {
  exchange_blocks(Collective::fcollect, for_all(team, function, dest, source, nbytes), Begin::at_once);
}
void alltoall(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept {
  exchange_blocks(Collective::alltoall, for_each(team, function, dest, source, nbytes), Begin::at_once);
}
void fcollect_when_come(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept {
  exchange_blocks(Collective::fcollect, for_all(team, function, dest, source, nbytes), Begin::when_come);
}
void alltoall_when_come(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept {
  exchange_blocks(Collective::alltoall, for_each(team, function, dest, source, nbytes), Begin::when_come);
}

}  // namespace railshmem

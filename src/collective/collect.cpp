// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/collect.h"

#include "src/collective/announcement.h"
#include "src/collective/flags.h"
#include "src/collective/operand.h"
#include "src/rma/copy.h"

namespace railshmem {
namespace {

/// One collect, once every member knows how much each gives.
struct Collect {
  Team& team;
  const char* function;
  std::byte* dest;
  const std::byte* source;
  const Announcements& announced;
  uint64_t number;  ///< of begin_arrival()

  std::byte* place_of(int rank) const noexcept { return dest + announced.of(rank).place; }
  bool is_long(int rank) const noexcept { return !announced.of(rank).is_short(); }
};

void push(const Collect& call, const Operand& dest) noexcept {
  Team& team = call.team;
  const Announcement& mine = call.announced.of(team.rank);
  if (mine.is_short()) return;
  for (int i = 1; i < team.size(); ++i) {
    const int to = ahead(team, team.rank, i);
    copy_block(dest.of(team, to) + mine.place, call.source, mine.nbytes);
    raise_here(team, to, team.area.arrival(team.rank), call.number);
  }
}

/// Sends the piece of member `owner`, which is here at `from`, under the owner's flag.
void send_piece(const Collect& call, int owner, const std::byte* from, int to) noexcept {
  send(call.team, call.function, to, call.place_of(owner), from, call.announced.of(owner).nbytes,
       call.team.area.arrival(owner), call.number);
}

void send_to_all(const Collect& call) noexcept {
  Team& team = call.team;
  if (!call.is_long(team.rank)) return;
  for (int i = 1; i < team.size(); ++i) send_piece(call, team.rank, call.source, ahead(team, team.rank, i));
}

/// To one member of each node, who passes it on.
void send_by_rails(const Collect& call) noexcept {
  Team& team = call.team;
  const TeamNodes& nodes = team.nodes;
  const int count = static_cast<int>(nodes.leaders.size());
  if (call.is_long(team.rank)) {
    for (int i = 1; i < count; ++i)
      send_piece(call, team.rank, call.source, nodes.partner((nodes.my_node + i) % count, nodes.my_index));
    for (const int to : nodes.members)
      if (to != team.rank) send_piece(call, team.rank, call.source, to);
  }
  for (int i = 1; i < count; ++i) {
    const int node = (nodes.my_node - i + count) % count;
    for (int index = nodes.my_index; index < nodes.size_of(node); index += nodes.size_here()) {
      const int owner = nodes.partner(node, index);
      if (!call.is_long(owner)) continue;
      await(team, call.function, owner, team.area.arrival(owner), call.number);
      for (const int to : nodes.members)
        if (to != team.rank) send_piece(call, owner, call.place_of(owner), to);
    }
  }
}

void place_short_ones(const Collect& call) noexcept {
  for (int rank = 0; rank < call.team.size(); ++rank) {
    const Announcement& one = call.announced.of(rank);
    if (rank == call.team.rank)
      copy_own(call.dest + one.place, call.source, one.nbytes);
    else if (one.is_short())
      copy_block(call.dest + one.place, one.data, one.nbytes);
  }
}

void await_long_ones(const Collect& call) noexcept {
  Team& team = call.team;
  for (int i = 1; i < team.size(); ++i) {
    const int from = behind(team, team.rank, i);
    if (call.is_long(from)) await(team, call.function, from, team.area.arrival(from), call.number);
  }
}

}  // namespace

void collect(Team& team, const char* function, void* dest, const void* source, size_t nbytes) noexcept {
  const Announcements announced(team, function, source, nbytes);
  if (announced.total() == 0) return;
  const Operand operand = find_dest(team, function, dest, announced.total());
  Collect call{team, function, static_cast<std::byte*>(dest), static_cast<const std::byte*>(source), announced, 0};
  if (announced.all_short()) return place_short_ones(call);
  call.number = begin_arrival(team);
  const Reach reach = reach_of(team, operand);
  // By the mean, which all members know.
  switch (team.state.choice->pick(Collective::collect, reach, announced.total() / static_cast<size_t>(team.size()),
                                  team.size())) {
    case Algorithm::rails:
      send_by_rails(call);
      break;
    case Algorithm::direct:
      send_to_all(call);
      break;
    default:
      push(call, operand);
      break;
  }
  place_short_ones(call);
  await_long_ones(call);
  finish_sends(team, announced.total());
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/collectives.h"

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
  CopyBatch copies(team.state.device);
  for (int i = 1; i < team.size(); ++i) {
    const int to = ahead(team, team.rank, i);
    copies.add(dest.of(team, to) + mine.place, call.source, mine.nbytes);
    if (!copies.waits()) raise_here(team, to, team.area.arrival(team.rank), call.number);
  }
  copies.finish();
  for (int i = 1; i < team.size() && copies.waits(); ++i)
    raise_here(team, ahead(team, team.rank, i), team.area.arrival(team.rank), call.number);
}

void send_own(const Collect& call, int to) noexcept {
  Team& team = call.team;
  deliver(team, call.function, to, call.place_of(team.rank), call.source, call.announced.of(team.rank).nbytes,
          team.area.arrival(team.rank), call.number);
}

/// The piece of another member, which is here already.
void pass_on(const Collect& call, int owner, int to) noexcept {
  deliver(call.team, call.function, to, call.place_of(owner), call.place_of(owner), call.announced.of(owner).nbytes,
          call.team.area.passed(owner), call.number);
}

void await_piece(const Collect& call, int owner, size_t flag) noexcept {
  if (call.is_long(owner)) await(call.team, call.function, owner, flag, call.number);
}

void send_to_all(const Collect& call) noexcept {
  Team& team = call.team;
  if (!call.is_long(team.rank)) return;
  for (int i = 1; i < team.size(); ++i) send_own(call, ahead(team, team.rank, i));
}

/// Sends this member's data to one partner on each node, who passes it on. The partner never changes, so each flag has
/// one writer.
void send_by_rails(const Collect& call) noexcept {
  Team& team = call.team;
  const TeamNodes& nodes = team.nodes;
  const int count = static_cast<int>(nodes.leaders.size());
  if (call.is_long(team.rank)) {
    for (int i = 1; i < count; ++i) send_own(call, nodes.partner((nodes.my_node + i) % count, nodes.my_index));
    for (const int to : nodes.members)
      if (to != team.rank) send_own(call, to);
  }
  for (int i = 1; i < count; ++i) {
    const int node = (nodes.my_node - i + count) % count;
    for (int index = nodes.my_index; index < nodes.size_of(node); index += nodes.size_here()) {
      const int owner = nodes.partner(node, index);
      if (!call.is_long(owner)) continue;
      await_piece(call, owner, team.area.arrival(owner));
      for (const int to : nodes.members)
        if (to != team.rank) pass_on(call, owner, to);
    }
  }
}

void await_from_senders(const Collect& call) noexcept {
  Team& team = call.team;
  for (int i = 1; i < team.size(); ++i) {
    const int from = behind(team, team.rank, i);
    await_piece(call, from, team.area.arrival(from));
  }
}

/// After send_by_rails(): what came to this PE itself was awaited there.
void await_from_rails(const Collect& call) noexcept {
  Team& team = call.team;
  const TeamNodes& nodes = team.nodes;
  for (const int owner : nodes.members)
    if (owner != team.rank) await_piece(call, owner, team.area.arrival(owner));
  for (int node = 0; node < static_cast<int>(nodes.leaders.size()); ++node)
    for (int index = 0; index < nodes.size_of(node); ++index) {
      if (node == nodes.my_node || index % nodes.size_here() == nodes.my_index) continue;
      const int owner = nodes.partner(node, index);
      await_piece(call, owner, team.area.passed(owner));
    }
}

void place_short_ones(const Collect& call) noexcept {
  CopyBatch copies(call.team.state.device);
  for (int rank = 0; rank < call.team.size(); ++rank) {
    const Announcement& one = call.announced.of(rank);
    if (rank == call.team.rank)
      copies.add_own(call.dest + one.place, call.source, one.nbytes);
    else if (one.is_short())
      copies.add(call.dest + one.place, one.data, one.nbytes);
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
  // By the mean, which all members know.
  const Algorithm algorithm = team.state.choice->pick(
      Collective::collect, reach_of(team, operand), announced.total() / static_cast<size_t>(team.size()), team.size());
  if (algorithm == Algorithm::rails)
    send_by_rails(call);
  else if (algorithm == Algorithm::direct)
    send_to_all(call);
  else
    push(call, operand);
  place_short_ones(call);
  if (algorithm == Algorithm::rails)
    await_from_rails(call);
  else
    await_from_senders(call);
  finish_sends(team, announced.total());
}

}  // namespace railshmem

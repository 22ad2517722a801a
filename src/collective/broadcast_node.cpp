// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/broadcast.h"

#include "src/collective/flags.h"
#include "src/rma/copy.h"

namespace railshmem {
namespace {

int index_after(const Team& team, int distance) noexcept {
  const int index = team.nodes.my_index + distance;
  return index < team.nodes.size_here() ? index : index - team.nodes.size_here();
}

void offer(const Broadcast& call) noexcept {
  Team& team = call.team;
  for (int i = 1; i < team.nodes.size_here(); ++i)
    raise_here(team, index_after(team, i), team.area.arrival(team.rank), call.number);
}

void push(const Broadcast& call) noexcept {
  Team& team = call.team;
  const size_t flag = team.area.arrival(team.rank);
  const std::byte* const data = call.data();
  CopyBatch copies(team.state.device);
  for (int i = 1; i < team.nodes.size_here(); ++i) {
    const int index = index_after(team, i);
    copies.add(call.dest_operand.of(team, team.nodes.members[static_cast<size_t>(index)]), data, call.nbytes);
    if (!copies.waits()) raise_here(team, index, flag, call.number);
  }
  copies.finish();
  if (copies.waits()) offer(call);
}

/// Global objects that are not mapped go by the network even within the node.
void push_unmapped(const Broadcast& call) noexcept {
  Team& team = call.team;
  for (const int to : team.nodes.members)
    if (to != team.rank)
      deliver(team, call.function, to, call.dest, call.data(), call.nbytes, team.area.arrival(team.rank), call.number);
}

}  // namespace

NodeBroadcast::NodeBroadcast(const Broadcast& call, int giver) noexcept : call_(call), giver_(giver) {
  const Team& team = call.team;
  if (team.state.choice->pick(Collective::broadcast, Reach::node, call.nbytes, team.nodes.size_here()) !=
          Algorithm::pull ||
      !call.dest_operand.mapped(team.state))
    return;
  data_ = Operand(team.state, giver == call.root ? call.source : call.dest, call.nbytes);
  pulls_ = data_.mapped(team.state);  // not where the root's source is no symmetric object
}

void NodeBroadcast::give() const noexcept {
  if (pulls_) return offer(call_);
  if (call_.dest_operand.mapped(call_.team.state)) return push(call_);
  push_unmapped(call_);
}

void NodeBroadcast::finish() const noexcept {
  if (!pulls_) return;
  Team& team = call_.team;
  for (const int member : team.nodes.members)
    if (member != team.rank) await(team, call_.function, member, team.area.done(member), call_.number);
}

void NodeBroadcast::take() const noexcept {
  Team& team = call_.team;
  await(team, call_.function, giver_, team.area.arrival(giver_), call_.number);
  if (!pulls_) return;
  move_block(team.state.device, call_.dest, data_.of(team, giver_), call_.nbytes);
  raise(team, giver_, team.area.done(team.rank), call_.number);
}

}  // namespace railshmem

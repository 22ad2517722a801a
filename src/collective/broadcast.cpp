// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/broadcast.h"

#include "src/collective/collectives.h"
#include "src/collective/flags.h"

namespace railshmem {
namespace {

void between_nodes(const Broadcast& call) noexcept {
  switch (call.team.state.choice->pick(Collective::broadcast, Reach::network, call.nbytes,
                                       static_cast<int>(call.team.nodes.leaders.size()))) {
    case Algorithm::tree:
      return broadcast_by_tree(call);
    case Algorithm::scatter:
      return broadcast_by_scatter(call);
    default:
      return broadcast_by_sending(call);
  }
}

}  // namespace

void broadcast(Team& team, const char* function, void* dest, const void* source, size_t nbytes, int root,
               RootDest on_root) noexcept {
  const bool keeps_own = team.rank == root && on_root == RootDest::written;
  const Operand operand = find_dest(team, function, dest, nbytes);
  if (team.size() == 1) {
    if (keeps_own) copy_own(team.state.device, dest, source, nbytes);
    return;
  }
  const Broadcast call{team,   function, static_cast<std::byte*>(dest), static_cast<const std::byte*>(source),
                       nbytes, root,     begin_arrival(team),           operand};
  const int giver = broadcast_giver(call, team.nodes.my_node);
  const NodeBroadcast here(call, giver);
  if (team.rank != giver) return here.take();
  if (!team.nodes.one_node()) between_nodes(call);
  here.give();
  if (keeps_own) copy_own(team.state.device, dest, source, nbytes);
  here.finish();
  finish_sends(team, nbytes);
}

}  // namespace railshmem

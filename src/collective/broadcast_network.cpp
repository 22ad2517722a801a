// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/broadcast.h"

#include <algorithm>

#include "src/base/align.h"
#include "src/collective/flags.h"

namespace railshmem {
namespace {

/// Nodes counted from the root's, so that the root is number 0.
struct Positions {
  explicit Positions(const Broadcast& call) noexcept
      : count(static_cast<int>(call.team.nodes.leaders.size())),
        root_node(call.team.nodes.node_of[static_cast<size_t>(call.root)]),
        mine((call.team.nodes.my_node - root_node + count) % count) {}

  int giver(const Broadcast& call, int position) const noexcept {
    return broadcast_giver(call, (root_node + position) % count);
  }

  const int count;
  const int root_node;
  const int mine;
};

void send_part(const Broadcast& call, int to, size_t from_byte, size_t nbytes) noexcept {
  Team& team = call.team;
  deliver(team, call.function, to, call.dest + from_byte, call.data() + from_byte, nbytes, team.area.arrival(team.rank),
          call.number);
}

void await_part(const Broadcast& call, int from) noexcept {
  await(call.team, call.function, from, call.team.area.arrival(from), call.number);
}

}  // namespace

int broadcast_giver(const Broadcast& call, int node) noexcept {
  const TeamNodes& nodes = call.team.nodes;
  return nodes.node_of[static_cast<size_t>(call.root)] == node ? call.root : nodes.leaders[static_cast<size_t>(node)];
}

void broadcast_by_sending(const Broadcast& call) noexcept {
  const Positions at(call);
  if (at.mine != 0) return await_part(call, call.root);
  for (int p = 1; p < at.count; ++p) send_part(call, at.giver(call, p), 0, call.nbytes);
}

/// Position p has its data from p without its highest bit, so the largest sub-tree is served first.
void broadcast_by_tree(const Broadcast& call) noexcept {
  const Positions at(call);
  int reach = 1;  // the lowest power of two above this position: its children start there
  while (reach <= at.mine) reach *= 2;
  if (at.mine != 0) await_part(call, at.giver(call, at.mine - reach / 2));
  for (; at.mine + reach < at.count; reach *= 2) send_part(call, at.giver(call, at.mine + reach), 0, call.nbytes);
}

/// The root sends each other node one share; each of them sends its share to the rest. Nobody sends more than the
/// whole twice, however many nodes there are.
void broadcast_by_scatter(const Broadcast& call) noexcept {
  const Positions at(call);
  const auto receivers = static_cast<size_t>(at.count - 1);
  const size_t share = align_up((call.nbytes + receivers - 1) / receivers, size_t{64});
  const auto start = [&](int p) { return std::min(call.nbytes, static_cast<size_t>(p - 1) * share); };
  const auto length = [&](int p) { return std::min(call.nbytes - start(p), share); };
  if (at.mine == 0) {
    for (int p = 1; p < at.count; ++p) send_part(call, at.giver(call, p), start(p), length(p));
    return;
  }
  await_part(call, call.root);
  const auto other = [&](int i) { return (at.mine - 1 + i) % (at.count - 1) + 1; };  // the i-th receiver after this
  for (int i = 1; i < at.count - 1; ++i) send_part(call, at.giver(call, other(i)), start(at.mine), length(at.mine));
  for (int i = 1; i < at.count - 1; ++i) await_part(call, at.giver(call, other(i)));
}

}  // namespace railshmem

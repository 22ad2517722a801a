// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "src/collective/collectives.h"
#include "src/collective/exchange.h"
#include "src/collective/gather.h"
#include "src/collective/reduce_chunks.h"
#include "src/collective/reduction.h"
#include "src/plan/choice.h"

namespace railshmem {
namespace {

constexpr size_t kTreeIndices = kSyncRounds + 2;  // a round each, and to and from a leader beyond the power of two

/// The leader has its node's sum in dest; afterwards the team's. Every leader sends to every other.
void exchange_all(Team& team, const Reduction& job) noexcept {
  const Ranks leaders = Ranks::leaders(team);
  const int me = team.nodes.my_node;
  NetExchange exchange(team, job);
  std::byte* const mine = team.mine(team.area.slot(team.exchanges));
  std::memcpy(mine, job.dest, job.nbytes());  // dest takes the sums while this operand waits for its turn
  for (int i = 1; i < leaders.size; ++i) exchange.send_to(leaders[(me + i) % leaders.size], mine, me);
  const std::byte* left = nullptr;
  for (int i = 0; i < leaders.size; ++i) {
    const std::byte* const operand = i == me ? mine : exchange.receive_from(leaders[i], i);
    if (i > 0) job.combine(job.dest, left, operand, job.nelems);
    left = i > 0 ? job.dest : operand;
  }
}

/// Recursive doubling: in round r leaders 2^r apart swap their sums. A leader beyond the last power of two first gives
/// its sum to a leader below that power, and gets the result from it. Both leaders of a swap add in one order, so all
/// results agree to the bit.
void exchange_in_tree(Team& team, const Reduction& job) noexcept {
  const Ranks leaders = Ranks::leaders(team);
  const int me = team.nodes.my_node;
  int power = 1;
  while (power <= leaders.size / 2) power *= 2;
  NetExchange exchange(team, job);
  if (me >= power) {
    exchange.send_to(leaders[me - power], job.dest, 0);
    std::memcpy(job.dest, exchange.receive_from(leaders[me - power], 1), job.nbytes());
    return;
  }
  const bool folds = me + power < leaders.size;
  if (folds) job.combine(job.dest, job.dest, exchange.receive_from(leaders[me + power], 0), job.nelems);
  for (int distance = 1, index = 2; distance < power; distance *= 2, ++index) {
    const int other = leaders[me ^ distance];
    exchange.send_to(other, job.dest, index);
    const std::byte* const theirs = exchange.receive_from(other, index);
    if (me & distance)
      job.combine(job.dest, theirs, job.dest, job.nelems);
    else
      job.combine(job.dest, job.dest, theirs, job.nelems);
  }
  if (folds) exchange.send_to(leaders[me + power], job.dest, 1);
}

/// Short vectors: the leader works for its node. One way over the network, or one per round.
template <class Exchange>
void reduce_by_leaders(Team& team, const Reduction& job, Exchange&& exchange_among_leaders) noexcept {
  begin_exchange(team);
  const Ranks here = Ranks::here(team);
  const Part all{0, job.nelems};
  const bool alone = here.size == 1;
  if (!alone) {
    arrive(team);
    if (team.nodes.my_index != 0) return await_answer(team, job.function);
    await_node(team, job.function);
  }
  combine_part(team, job, {here, job.source}, {}, all);
  exchange_among_leaders(team, job);
  if (alone) return;
  for (int i = 1; i < here.size; ++i) deliver(team, job, here[i], all);
  settle(team);
  answer_node(team);
}

/// Long vectors: each step spreads the vector over those who take part in it.
void reduce_in_chunks(Team& team, const Reduction& job) noexcept {
  const Ranks here = Ranks::here(team);
  const Ranks leaders = Ranks::leaders(team);
  const int nodes = leaders.size;
  const bool alone = nodes == team.size();  // no node has two members
  const Operands sources{alone ? leaders : here, job.source};
  sync(team, job.function);
  if (!alone) {
    combine_part(team, job, sources, {here.list, 1}, part_of(job.nelems, job.element, team.nodes.my_index, here.size));
    settle(team);
    sync(team, job.function);
  }
  if (team.nodes.my_index == 0) {
    const Operands sums{leaders, alone ? job.source : job.dest};
    combine_part(team, job, sums, leaders, part_of(job.nelems, job.element, team.nodes.my_node, nodes));
    settle(team);
  }
  sync(team, job.function);
  if (alone) return;
  if (team.nodes.my_index != 0)
    get(team.state, team.context, job.function, job.dest, job.dest, job.nbytes(), team.pes.pe(here[0]));
  sync(team, job.function);  // the leader's dest is the program's again only now
}

}  // namespace

void reduce_over_nodes(Team& team, const Reduction& job) noexcept {
  const auto nodes = team.nodes.leaders.size();
  const size_t nbytes = job.nbytes();
  if (on_device(team, job)) {  // most of the others compute in dest
    if (reduce_by_chunks(team, job)) return;
    must_be_plain(job);
    return reduce_in_chunks(team, job);
  }
  switch (team.state.choice->pick(Collective::reduce, Reach::network, nbytes, static_cast<int>(nodes))) {
    case Algorithm::direct:
      if (nbytes <= kLineBytes || nbytes <= NetExchange::capacity(nodes))
        return reduce_by_leaders(team, job, exchange_all);
      break;
    case Algorithm::tree:
      if (nbytes <= NetExchange::capacity(kTreeIndices)) return reduce_by_leaders(team, job, exchange_in_tree);
      break;
    case Algorithm::links:
      if (reduce_by_chunks(team, job)) return;
      break;
    default:
      break;
  }
  reduce_in_chunks(team, job);
}

}  // namespace railshmem

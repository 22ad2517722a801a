// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/collectives.h"

#include "src/collective/exchange.h"
#include "src/collective/gather.h"
#include "src/plan/choice.h"

namespace railshmem {
namespace {

/// Every member computes the whole result from every operand: no second wait.
void reduce_direct(Team& team, const Reduction& job) noexcept {
  begin_exchange(team);
  NodeExchange exchange(team, job);
  const std::byte* left = exchange.operand(0);
  for (int i = 1; i < team.size(); ++i) {
    job.combine(job.dest, left, exchange.operand(i), job.nelems);
    left = job.dest;
  }
}

void reduce_last(Team& team, const Reduction& job) noexcept {
  if (!arrive(team)) return await_answer(team, job.function);
  combine_part(team, job, {Ranks::all(team), job.source}, Ranks::all(team), {0, job.nelems});
  settle(team);
  answer_node(team);
}

void reduce_chunks(Team& team, const Reduction& job) noexcept {
  sync(team, job.function);
  combine_part(team, job, {Ranks::all(team), job.source}, Ranks::all(team),
               part_of(job.nelems, job.element, team.rank, team.size()));
  settle(team);
  sync(team, job.function);
}

void reduce_on_node(Team& team, const Reduction& job) noexcept {
  if (on_device(team, job)) {
    if (!is_short(job)) return reduce_chunks(team, job);
    return reduce_by_host(team, job, job.nbytes(), [&](const Reduction& host) { reduce_direct(team, host); });
  }
  switch (team.state.choice->pick(Collective::reduce, Reach::node, job.nbytes(), crowd(team))) {
    case Algorithm::direct:
      if (job.nbytes() <= TeamAreaLayout::kSlotBytes) return reduce_direct(team, job);
      break;
    case Algorithm::last:
      return reduce_last(team, job);
    default:
      break;
  }
  reduce_chunks(team, job);
}

}  // namespace

void reduce(Team& team, const Reduction& job) noexcept {
  if (team.size() == 1) return copy_own(team.state.device, job.dest, job.source, job.nbytes());
  if (team.nodes.one_node()) return reduce_on_node(team, job);
  reduce_over_nodes(team, job);
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/reducescatter.h"

#include <cstring>
#include <memory>
#include <new>

#include "src/base/log.h"
#include "src/collective/device_operands.h"
#include "src/collective/exchange.h"
#include "src/collective/sync.h"
#include "src/plan/choice.h"

namespace railshmem {
namespace {

/// The reduction of which every member wants a part.
Reduction whole_of(const Team& team, const Reduction& job) noexcept {
  Reduction whole = job;
  whole.nelems *= static_cast<size_t>(team.size());
  return whole;
}

const std::byte* part_for(int rank, const Reduction& job) noexcept {
  return job.source + static_cast<size_t>(rank) * job.nbytes();
}

template <class OperandOf>
void add_up(const Team& team, const Reduction& job, OperandOf&& operand) noexcept {
  const std::byte* left = operand(0);
  for (int i = 1; i < team.size(); ++i) {
    job.combine(job.dest, left, operand(i), job.nelems);
    left = job.dest;
  }
}

/// Everybody shows its whole source, of up to TeamAreaLayout::kSlotBytes.
void deal_direct_on_node(Team& team, const Reduction& job) noexcept {
  begin_exchange(team);
  NodeExchange exchange(team, whole_of(team, job));
  const size_t mine = static_cast<size_t>(team.rank) * job.nbytes();
  add_up(team, job, [&](int i) { return exchange.operand(i) + mine; });
}

void deal_direct(Team& team, const Reduction& job) noexcept {
  begin_exchange(team);
  NetExchange exchange(team, job);
  std::byte* const mine = team.mine(team.area.slot(team.exchanges));
  std::memcpy(mine, part_for(team.rank, job), job.nbytes());  // dest may lie there
  for (int i = 1; i < team.size(); ++i) {
    const int to = ahead(team, team.rank, i);
    exchange.send_to(to, part_for(to, job), team.rank);
  }
  add_up(team, job, [&](int i) { return i == team.rank ? mine : exchange.receive_from(i, i); });
}

/// Nobody but this PE reads what it writes to dest while members still read sources.
bool writes_apart(const Team& team, const Reduction& job) noexcept {
  const auto dest = reinterpret_cast<uintptr_t>(job.dest), source = reinterpret_cast<uintptr_t>(job.source);
  return job.dest == part_for(team.rank, job) || dest >= source + whole_of(team, job).nbytes() ||
         dest + job.nbytes() <= source;
}

/// Every member combines its own part, between two synchronisations.
void deal_chunks(Team& team, const Reduction& job) noexcept {
  const Operands parts{Ranks::all(team), part_for(team.rank, job)};
  sync(team, job.function);
  if (writes_apart(team, job)) {
    combine_part(team, job, parts, {}, {0, job.nelems});
    return sync(team, job.function);
  }
  const std::unique_ptr<std::byte[]> room(new (std::nothrow) std::byte[job.nbytes()]);
  if (!room)
    die("%s: there is no memory for %zu bytes, which a dest that lies in another PE's part of source takes; pass a "
        "dest "
        "apart from source, or the own part of source",
        job.function, job.nbytes());
  Reduction aside = job;
  aside.dest = room.get();
  combine_part(team, aside, parts, {}, {0, job.nelems});
  sync(team, job.function);
  move_block(team.state.device, job.dest, room.get(), job.nbytes());
}

}  // namespace

void reducescatter(Team& team, const Reduction& job) noexcept {
  if (team.size() == 1) return copy_own(team.state.device, job.dest, job.source, job.nbytes());
  const bool on_node = team.nodes.one_node();
  const Reduction whole = whole_of(team, job);
  const size_t incoming = NetExchange::capacity(static_cast<size_t>(team.size()));
  const bool fits =
      on_node ? whole.nbytes() <= TeamAreaLayout::kSlotBytes : job.nbytes() <= kLineBytes || job.nbytes() <= incoming;
  const auto direct = on_node ? deal_direct_on_node : deal_direct;
  if (on_device(team, job)) {
    if (fits && whole.nbytes() <= TeamAreaLayout::kSlotBytes)
      return reduce_by_host(team, job, whole.nbytes(), [&](const Reduction& host) { direct(team, host); });
    return deal_chunks(team, job);
  }
  const Algorithm chosen = team.state.choice->pick(Collective::reducescatter, on_node ? Reach::node : Reach::network,
                                                   job.nbytes(), on_node ? crowd(team) : team.size());
  if (chosen == Algorithm::direct && fits) return direct(team, job);
  deal_chunks(team, job);
}

}  // namespace railshmem

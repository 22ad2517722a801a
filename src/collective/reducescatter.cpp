// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/collectives.h"

#include <cstring>
#include <memory>
#include <new>

#include "src/base/log.h"
#include "src/collective/exchange.h"
#include "src/collective/reduce_chunks.h"
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

/// Operands of a node meet in rank order, then the nodes' results in node order.
template <class OperandOf>
void add_up_by_node(const Team& team, const Reduction& job, OperandOf&& operand) noexcept {
  alignas(64) std::byte of_node[TeamAreaLayout::kIncomingBytes];
  const TeamNodes& nodes = team.nodes;
  for (size_t node = 0; node < nodes.leaders.size(); ++node) {
    const auto member = [&](int i) { return operand(nodes.by_node[static_cast<size_t>(i)]); };
    const std::byte* left = member(nodes.first[node]);
    for (int i = nodes.first[node] + 1; i < nodes.first[node + 1]; ++i) {
      job.combine(of_node, left, member(i), job.nelems);
      left = of_node;
    }
    if (node == 0)
      std::memcpy(job.dest, left, job.nbytes());
    else
      job.combine(job.dest, job.dest, left, job.nelems);
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
  add_up_by_node(team, job, [&](int i) { return i == team.rank ? mine : exchange.receive_from(i, i); });
}

/// Nobody but this PE reads what it writes to dest while members still read sources.
bool writes_apart(const Team& team, const Reduction& job) noexcept {
  const auto dest = reinterpret_cast<uintptr_t>(job.dest), source = reinterpret_cast<uintptr_t>(job.source);
  return job.dest == part_for(team.rank, job) || dest >= source + whole_of(team, job).nbytes() ||
         dest + job.nbytes() <= source;
}

/// Every member combines its own part, between two synchronisations.
void deal_chunks(Team& team, const Reduction& job) noexcept {
  const std::byte* const from = part_for(team.rank, job);
  const auto combine = [&](const Reduction& to) {
    if (team.nodes.one_node()) return combine_part(team, to, {Ranks::all(team), from}, {}, {0, job.nelems});
    combine_by_node(team, to, from, {0, job.nelems});
  };
  sync(team, job.function);
  if (writes_apart(team, job)) {
    combine(job);
    return sync(team, job.function);
  }
  const std::unique_ptr<std::byte[]> room = room_for(job.function, job.nbytes());
  Reduction aside = job;
  aside.dest = room.get();
  combine(aside);
  sync(team, job.function);
  move_block(team.state.device, job.dest, room.get(), job.nbytes());
}

void deal_over_nodes(Team& team, const Reduction& job, bool fits) noexcept {
  const size_t whole = whole_of(team, job).nbytes();
  if (on_device(team, job)) {
    if (fits && whole <= TeamAreaLayout::kSlotBytes && is_plain(job))
      return reduce_by_host(team, job, whole, [&](const Reduction& host) { deal_direct(team, host); });
    if (deal_by_chunks(team, job)) return;
    must_be_plain(job);
    return deal_chunks(team, job);
  }
  const Algorithm chosen =
      team.state.choice->pick(Collective::reducescatter, Reach::network, job.nbytes(), team.size());
  if (chosen == Algorithm::direct && fits) return deal_direct(team, job);
  if (chosen == Algorithm::links && deal_by_chunks(team, job)) return;
  deal_chunks(team, job);
}

void deal_on_node(Team& team, const Reduction& job, bool fits) noexcept {
  const size_t whole = whole_of(team, job).nbytes();
  if (on_device(team, job)) {
    if (!fits) return deal_chunks(team, job);
    return reduce_by_host(team, job, whole, [&](const Reduction& host) { deal_direct_on_node(team, host); });
  }
  const Algorithm chosen = team.state.choice->pick(Collective::reducescatter, Reach::node, job.nbytes(), crowd(team));
  if (chosen == Algorithm::direct && fits) return deal_direct_on_node(team, job);
  deal_chunks(team, job);
}

}  // namespace

std::unique_ptr<std::byte[]> room_for(const char* function, size_t nbytes) noexcept {
  std::unique_ptr<std::byte[]> room(new (std::nothrow) std::byte[nbytes]);
  if (room) return room;
  die("%s: there is no memory for %zu bytes, which a dest in another PE's part of source takes; pass a dest "
      "apart from source, or the own part of source",
      function, nbytes);
}

void reducescatter(Team& team, const Reduction& job) noexcept {
  if (team.size() == 1) return copy_own(team.state.device, job.dest, job.source, job.nbytes());
  if (team.nodes.one_node()) return deal_on_node(team, job, whole_of(team, job).nbytes() <= TeamAreaLayout::kSlotBytes);
  const size_t incoming = NetExchange::capacity(static_cast<size_t>(team.size()));
  deal_over_nodes(team, job, job.nbytes() <= kLineBytes || job.nbytes() <= incoming);
}

}  // namespace railshmem

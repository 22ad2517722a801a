// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/collectives.h"

#include <cstring>

#include "src/collective/exchange.h"
#include "src/collective/gather.h"
#include "src/plan/choice.h"

namespace railshmem {
namespace {

/// Adds up the operands of the ranks before this PE's, and its own in an inclusive scan, in dest. Waits for the later
/// operands too, because every member of a full exchange must hear from every other.
template <class Operand>
void add_up(Team& team, const Reduction& job, Scan kind, Operand&& operand) noexcept {
  const int count = kind == Scan::inclusive ? team.rank + 1 : team.rank;
  const std::byte* left = nullptr;
  for (int i = 0; i < team.size(); ++i) {
    const std::byte* const right = operand(i);
    if (i >= count) continue;
    if (i > 0) job.combine(job.dest, left, right, job.nelems);
    left = i > 0 ? job.dest : right;
  }
  if (count == 0) std::memset(job.dest, 0, job.nbytes());
  if (count == 1) std::memcpy(job.dest, left, job.nbytes());
}

void scan_direct_on_node(Team& team, const Reduction& job, Scan kind) noexcept {
  begin_exchange(team);
  NodeExchange exchange(team, job);
  add_up(team, job, kind, [&](int i) { return exchange.operand(i); });
}

void scan_direct(Team& team, const Reduction& job, Scan kind) noexcept {
  begin_exchange(team);
  NetExchange exchange(team, job);
  std::byte* const mine = team.mine(team.area.slot(team.exchanges));
  std::memcpy(mine, job.source, job.nbytes());
  for (int i = 1; i < team.size(); ++i) exchange.send_to((team.rank + i) % team.size(), mine, team.rank);
  add_up(team, job, kind, [&](int i) { return i == team.rank ? mine : exchange.receive_from(i, i); });
}

void scan_last(Team& team, const Reduction& job, Scan kind) noexcept {
  if (!arrive(team)) return await_answer(team, job.function);
  scan_part(team, job, kind, {0, job.nelems});
  settle(team);
  answer_node(team);
}

void scan_chunks(Team& team, const Reduction& job, Scan kind) noexcept {
  sync(team, job.function);
  scan_part(team, job, kind, part_of(job.nelems, job.element, team.rank, team.size()));
  settle(team);
  sync(team, job.function);
}

/// In the memory of GPUs.
void scan_on_device(Team& team, const Reduction& job, Scan kind) noexcept {
  const bool on_node = team.nodes.one_node();
  const size_t most = on_node ? TeamAreaLayout::kSlotBytes : NetExchange::capacity(static_cast<size_t>(team.size()));
  if (!is_short(job) || job.nbytes() > most) return scan_chunks(team, job, kind);
  reduce_by_host(team, job, job.nbytes(), [&](const Reduction& host) {
    on_node ? scan_direct_on_node(team, host, kind) : scan_direct(team, host, kind);
  });
}

}  // namespace

void scan(Team& team, const Reduction& job, Scan kind) noexcept {
  if (on_device(team, job)) return scan_on_device(team, job, kind);
  const size_t nbytes = job.nbytes();
  const bool on_node = team.nodes.one_node();
  const auto members = static_cast<size_t>(team.size());
  switch (team.state.choice->pick(Collective::scan, on_node ? Reach::node : Reach::network, nbytes,
                                  on_node ? crowd(team) : team.size())) {
    case Algorithm::direct:
      if (on_node && nbytes <= TeamAreaLayout::kSlotBytes) return scan_direct_on_node(team, job, kind);
      if (!on_node && (nbytes <= kLineBytes || nbytes <= NetExchange::capacity(members)))
        return scan_direct(team, job, kind);
      break;
    case Algorithm::last:
      return scan_last(team, job, kind);
    default:
      break;
  }
  scan_chunks(team, job, kind);
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
//
// Neither algorithm needs memory beyond dest and a block on the stack; pWrk is not used. Only the set and the number of
// elements decide the order in which operands combine, so the bits of a result do not change from run to run.
#include <algorithm>

#include "src/active/arrivals.h"
#include "src/active/collectives.h"
#include "src/active/tree.h"
#include "src/collective/collectives.h"

namespace railshmem {
namespace {

constexpr size_t kBlock = 16 << 10;     // stays in the L1 or L2 cache while all members' parts are added to it
constexpr size_t kTreeBytes = 4 << 10;  // depth decides the time up to here, above it the bytes that each member moves

/// Combines the elements of `part` at the symmetric address `from` of member `rank` into this PE's dest.
void combine_from(const ActiveSet& set, const Reduction& job, Part part, const std::byte* from, int rank) noexcept {
  const int pe = set.pes.pe(rank);
  const size_t offset = part.first * job.element;
  std::byte* const into = job.dest + offset;
  from += offset;
  const PeerAddress there = locate(set.state, set.function, from, part.count * job.element, pe);
  DeviceAccess* const device = set.state.device;
  const bool staged = device && (device->is_device(into) || device->is_device(from));
  if (there.mapped && !staged) return job.combine(into, into, there.mapped, part.count);
  alignas(64) std::byte block[kBlock];
  alignas(64) std::byte own[kBlock];  // a copy of a block of dest, where the CPU cannot use dest
  const size_t step = kBlock / job.element;
  for (size_t done = 0; done < part.count; done += step) {
    const size_t n = std::min(step, part.count - done);
    std::byte* const here = into + done * job.element;
    get(set.state, set.context, set.function, block, from + done * job.element, n * job.element, pe);
    if (staged) device->copy(own, here, n * job.element);
    std::byte* const out = staged ? own : here;
    job.combine(out, out, block, n);
    if (staged) device->copy(here, own, n * job.element);
  }
}

/// Reduces up a binomial tree and sends the result down again. A member tells its parent when its dest holds the result
/// of its subtree. The parent reads the result there; afterwards the final result replaces it.
void reduce_by_tree(const ActiveSet& set, const Reduction& job) noexcept {
  const BinomialTree tree(set, 0);
  move_own(set, job.dest, job.source, job.nbytes());
  for (int k = 0; k < tree.child_slots(); ++k) {
    const int child = tree.child(k);
    if (child < 0) continue;
    take(set, child, sync_index(SyncWord::round, k));
    combine_from(set, job, {0, job.nelems}, job.dest, child);
  }
  if (!tree.is_root()) notify(set, tree.parent(), sync_index(SyncWord::round, tree.slot()));
  active_broadcast(set, job.dest, job.dest, job.nbytes(), 0);
}

/// Every member reduces its share of the elements and puts the result to all others. So dest may be source: only one
/// member reads and writes each share.
void reduce_by_shares(const ActiveSet& set, const Reduction& job) noexcept {
  active_sync(set);  // no source may be read before its owner has entered
  const Part share = part_of(job.nelems, job.element, set.rank, set.size());
  const size_t step = kBlock / job.element;
  for (size_t done = 0; done < share.count; done += step) {
    const Part part{share.first + done, std::min(step, share.count - done)};
    const size_t offset = part.first * job.element;
    move_own(set, job.dest + offset, job.source + offset, part.count * job.element);
    for (int i = 1; i < set.size(); ++i) combine_from(set, job, part, job.source, set.ahead(i));
  }
  std::byte* const mine = job.dest + share.first * job.element;
  for (int i = 1; i < set.size(); ++i) push(set, set.ahead(i), mine, mine, share.count * job.element, kArrived);
  take(set, -1, kArrived, static_cast<uint64_t>(set.size() - 1));
  settle(set);
}

}  // namespace

void active_reduce(const ActiveSet& set, const Reduction& job) noexcept {
  if (job.nelems == 0) return;
  locate(set.state, set.function, job.dest, job.nbytes(), set.state.me);
  locate(set.state, set.function, job.source, job.nbytes(), set.state.me);
  if (set.team) return reduce(*set.team, job);
  if (job.nbytes() <= kTreeBytes || job.nelems < static_cast<size_t>(set.size())) return reduce_by_tree(set, job);
  reduce_by_shares(set, job);
}

}  // namespace railshmem

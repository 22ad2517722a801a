// SPDX-License-Identifier: BSD-3-Clause
#include "src/active/arrivals.h"
#include "src/active/collectives.h"
#include "src/collective/collectives.h"
#include "src/rma/strided.h"

namespace railshmem {
namespace {

void await_all(const ActiveSet& set) noexcept {
  take(set, -1, kArrived, static_cast<uint64_t>(set.size() - 1));
}

}  // namespace

/// Each member begins with the member after it, so that no member gets all first messages.
void active_alltoall(const ActiveSet& set, void* dest, const void* source, size_t nbytes) noexcept {
  if (nbytes == 0) return;
  if (set.team) return alltoall(*set.team, set.function, dest, source, nbytes);
  std::byte* const slot = at(dest, static_cast<size_t>(set.rank) * nbytes);
  for (int i = 1; i < set.size(); ++i) {
    const int to = set.ahead(i);
    push(set, to, slot, at(source, static_cast<size_t>(to) * nbytes), nbytes, kArrived);
  }
  move_own(set, slot, at(source, static_cast<size_t>(set.rank) * nbytes), nbytes);
  await_all(set);
  settle(set);
}

void active_alltoalls(const ActiveSet& set, const SpacedBlocks& blocks) noexcept {
  if (blocks.nelems == 0) return;
  if (set.team) return alltoalls(*set.team, set.function, blocks);
  const size_t block = active_bytes(set, blocks.nelems, blocks.element);
  std::byte* const slot = blocks.dest + static_cast<size_t>(set.rank) * block * static_cast<size_t>(blocks.dest_step);
  const size_t source_block = block * static_cast<size_t>(blocks.source_step);
  for (int i = 0; i < set.size(); ++i) {
    const int to = set.ahead(i);
    strided_put(set.state, set.context, set.function, slot, blocks.source + static_cast<size_t>(to) * source_block,
                {blocks.dest_step, blocks.source_step, blocks.element, 1, blocks.nelems}, set.pes.pe(to));
  }
  settle(set);  // rather than fence: data and pSync may be reached in different ways
  for (int i = 1; i < set.size(); ++i) notify(set, set.ahead(i), kArrived);
  await_all(set);
}

}  // namespace railshmem

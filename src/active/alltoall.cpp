// SPDX-License-Identifier: BSD-3-Clause
#include "src/active/arrivals.h"
#include "src/active/collectives.h"
#include "src/rma/strided.h"

namespace railshmem {
namespace {

constexpr int kArrived = sync_index(SyncWord::arrived);

void await_all(const ActiveSet& set) noexcept {
  take(set, -1, kArrived, static_cast<uint64_t>(set.size() - 1));
}

}  // namespace

/// Everybody begins with another partner.
void active_alltoall(const ActiveSet& set, void* dest, const void* source, size_t nbytes) noexcept {
  if (nbytes == 0) return;
  std::byte* const slot = at(dest, static_cast<size_t>(set.rank) * nbytes);
  for (int i = 1; i < set.size(); ++i) {
    const int to = set.ahead(i);
    push(set, to, slot, at(source, static_cast<size_t>(to) * nbytes), nbytes, kArrived);
  }
  move_own(slot, at(source, static_cast<size_t>(set.rank) * nbytes), nbytes);
  await_all(set);
  settle(set);
}

void active_alltoalls(const ActiveSet& set, void* dest, const void* source, const ActiveStrides& strides) noexcept {
  if (strides.nelems == 0) return;
  const size_t dest_block = strides.nelems * strides.element * static_cast<size_t>(strides.dst);
  const size_t source_block = strides.nelems * strides.element * static_cast<size_t>(strides.sst);
  std::byte* const slot = at(dest, static_cast<size_t>(set.rank) * dest_block);
  for (int i = 0; i < set.size(); ++i) {
    const int to = set.ahead(i);
    strided_put(set.state, set.context, set.function, slot, at(source, static_cast<size_t>(to) * source_block),
                {strides.dst, strides.sst, strides.element, 1, strides.nelems}, set.pes.pe(to));
  }
  settle(set);  // rather than fence: data and pSync may be reached in different ways
  for (int i = 1; i < set.size(); ++i) tell(set, set.ahead(i), kArrived);
  await_all(set);
}

}  // namespace railshmem

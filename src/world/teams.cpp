// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/teams.h"

#include <cstring>

namespace railshmem {

size_t Teams::areas_nbytes(int npes, int slots) noexcept {
  return static_cast<size_t>(slots) * TeamAreaLayout(npes).nbytes();
}

Teams::Teams(PeState& state, const NodeLayout& layout, Heap& heap, size_t offset, int slots)
    : state_(state), layout_(layout), heap_(heap), offset_(offset), teams_(static_cast<size_t>(slots)) {
  make(kWorld, {0, 1, state.npes});
  const int size = static_cast<int>(layout.members.size());
  make(kShared, layout.consecutive() ? PeSet{layout.members.front(), 1, size} : PeSet{0, 1, size, &layout.members});
}

Team& Teams::active_sets() {
  std::unique_ptr<Team>& team = teams_[kActiveSets];
  if (!team) {
    // The area is left as it is, zeros or flags of PEs that were here before: nobody had it earlier.
    const size_t nbytes = TeamAreaLayout(state_.npes).nbytes();
    const size_t at = offset_ + kActiveSets * nbytes;
    heap_.populate_header(at, nbytes);
    team = std::make_unique<Team>(state_, PeSet{0, 1, state_.npes}, state_.me, kActiveSets, layout_, at);
  }
  return *team;
}

void Teams::make(int slot, const PeSet& pes) {
  const size_t nbytes = TeamAreaLayout(state_.npes).nbytes();
  const size_t at = offset_ + static_cast<size_t>(slot) * nbytes;
  heap_.populate_header(at, nbytes);
  std::memset(heap_.base() + at, 0, nbytes);
  teams_[static_cast<size_t>(slot)] = std::make_unique<Team>(state_, pes, pes.rank(state_.me), slot, layout_, at);
}

}  // namespace railshmem

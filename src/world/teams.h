// SPDX-License-Identifier: BSD-3-Clause
// The teams of a PE: the predefined ones and those the program split, by handle.
#pragma once

#include <memory>
#include <vector>

#include "src/heap/heap.h"
#include "src/team/team.h"

namespace railshmem {

/// Slots are team areas in the heap; a handle is a slot plus one. Slot 0 is the world, slot 1 the node.
class Teams {
 public:
  static constexpr int kWorld = 0;
  static constexpr int kShared = 1;
  static constexpr int kActiveSets = 2;  ///< the library's own; no handle leads to it

  /// Areas start `offset` bytes into the heap. `layout` must outlive this. Throws Error.
  Teams(PeState& state, const NodeLayout& layout, Heap& heap, size_t offset, int slots);

  Team& world() noexcept { return *teams_[kWorld]; }
  Team& shared() noexcept { return *teams_[kShared]; }
  /// All PEs, for collectives of active sets; made at the first call, which no other PE need make at the same time.
  Team& active_sets();
  /// The team behind a handle, or null when the handle is no team of this PE's.
  Team* find(shmem_team_t handle) noexcept {
    const auto slot = reinterpret_cast<uintptr_t>(handle) - 1;
    return slot < teams_.size() ? teams_[slot].get() : nullptr;
  }

  /// Bytes of `slots` areas.
  static size_t areas_nbytes(int npes, int slots) noexcept;

 private:
  void make(int slot, const PeSet& pes);

  PeState& state_;
  const NodeLayout& layout_;
  Heap& heap_;
  const size_t offset_;
  std::vector<std::unique_ptr<Team>> teams_;  ///< by slot
};

}  // namespace railshmem

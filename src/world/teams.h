// SPDX-License-Identifier: BSD-3-Clause
// The teams of a PE, by handle: the predefined ones and those that the program made.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "src/gpu/kernel_tables.h"
#include "src/heap/heap.h"
#include "src/team/split.h"
#include "src/team/team.h"
#include "src/world/team_meeting.h"
#include "src/world/team_slots.h"

namespace railshmem {

/// One team to be made out of a parent, as this PE sees it.
struct TeamPlan {
  Triplet ranks;  ///< of the parent
  const shmem_team_config_t* config;
  long config_mask;
  Team* made = nullptr;  ///< the result; stays null on PEs that are no members
};

/// Bits of a PE's vote on a new team; the result is the AND of all votes.
inline constexpr uint64_t kHasSlots = 1;   ///< the voting thread has this PE's slots
inline constexpr uint64_t kCanBeMade = 2;  ///< this PE has no objection to the configuration

/// Whether slots have a second area, for collectives that the library runs in stream order while the program runs its
/// own: in jobs whose heap is in GPU memory.
enum class StreamAreas : uint8_t { none, made };

/// Slots are team areas in the heap. Slot 0 is the world, slot 1 the node. A team has one slot number on all its
/// members; disjoint teams may share a slot number.
class Teams {
 public:
  static constexpr int kWorld = 0;
  static constexpr int kShared = 1;
  static constexpr int kActiveSets = 2;  ///< the library's own; no handle leads to it
  static constexpr int kReserved = 3;    ///< the first slot for teams that programs split
  static constexpr size_t kMaxPlans = 2;

  /// Areas start `offset` bytes into the heap. `layout` must outlive this. Throws Error.
  Teams(PeState& state, const NodeLayout& layout, Heap& heap, size_t offset, int slots, StreamAreas streams);

  Team& world() noexcept { return *teams_[kWorld]; }
  Team& shared() noexcept { return *teams_[kShared]; }
  /// The team of all PEs for collectives of active sets. The first call makes it, without waiting for other PEs.
  Team& active_sets();
  /// The team behind a handle, or null when the handle is no team of this PE's.
  Team* find(shmem_team_t handle) noexcept {
    constexpr auto kSlotMask = (uintptr_t{1} << Team::kSlotBits) - 1;
    const auto slot = (reinterpret_cast<uintptr_t>(handle) & kSlotMask) - 1;
    if (slot >= teams_.size() || slot == kActiveSets) return nullptr;
    Team* team = teams_[slot].get();
    return team && team->handle() == handle ? team : nullptr;
  }

  /// Collective over the parent: makes one team per plan, or no team and returns false on all PEs. All PEs pass equally
  /// many plans, at most kMaxPlans. The members of a team pass one plan for it, and teams of one plan do not overlap.
  /// Triplets are valid.
  bool split(Team& parent, const char* function, std::span<TeamPlan> plans);
  /// An id for a later gather(). Local.
  uint64_t new_id();
  /// Collective over PEs that all pass one `id` and know their places in the team; they need have no team in common.
  /// Returns the team, or null on all of them: no slot is free on all, a member objects to the configuration, or the
  /// PEs are not in an order that a team can have.
  Team* gather(const char* function, uint64_t id, int size, int index, const shmem_team_config_t* config, long mask);
  bool is_id(uint64_t id) const noexcept { return desks_.is_id(id); }

  /// The members of `team` once more, with numbers, flags and a context of their own, for collectives in stream order.
  /// The first call makes it, without waiting for other PEs. Lives as long as `team`. Needs StreamAreas::made.
  Team& for_streams(const Team& team);

  /// Collective over the team, which must not be a predefined one. Destroys its contexts as well.
  void destroy(Team& team, const char* function) noexcept;

  /// Lets kernels use all present and later teams. `tables` must outlive this.
  void show_to(KernelTables& tables) noexcept;

  /// Sets a function that is called before a team of the program's goes. No call of its for_streams() may be under way.
  void when_gone(std::function<void(const Team&)> gone) { gone_ = std::move(gone); }

  /// Bytes of `slots` areas, of the desks behind them, and of the areas for streams. Throws Error when the slots are
  /// too few.
  static size_t nbytes(int npes, int slots, StreamAreas streams);

 private:
  struct Places {
    int slot[kMaxPlans];
    uint64_t first_number;
  };
  std::optional<Places> agree_on_places(Team& parent, const char* function, std::span<const TeamPlan> plans);
  std::optional<PeSet> come(TeamMeeting& meeting, const char* function, bool possible);
  std::optional<Places> vote(TeamMeeting& meeting, uint64_t id);
  PeSet set_of(std::vector<int> pes);
  size_t stream_area(int slot) const noexcept;
  void prepare_area(size_t at);
  Team& make(int slot, const PeSet& pes, uint64_t first_number = 0);
  bool make_all(const Team& parent, const char* function, std::span<TeamPlan> plans, const Places& places) noexcept;
  void unmake(Team& team) noexcept;
  void show(const Team& team) noexcept;

  PeState& state_;
  const NodeLayout& layout_;
  Heap& heap_;
  const size_t offset_;
  TeamDesks desks_;
  TeamSlots slots_;
  KernelTables* tables_ = nullptr;         ///< null: no kernel uses teams
  std::function<void(const Team&)> gone_;  ///< may be empty
  std::mutex making_;                      ///< guards lists_ and the memory of areas
  std::list<std::vector<int>> lists_;      ///< PEs of gathered teams; teams split from those use these lists too
  const StreamAreas streams_;
  std::vector<std::unique_ptr<Team>> teams_;         ///< by slot
  std::vector<std::unique_ptr<Team>> stream_teams_;  ///< by slot; made at first use
};

}  // namespace railshmem

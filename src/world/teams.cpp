// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/teams.h"

#include <sched.h>

#include <bit>
#include <cstring>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/process.h"
#include "src/collective/agree.h"
#include "src/collective/collectives.h"
#include "src/rma/context_table.h"
#include "src/rma/ordering.h"

namespace railshmem {
namespace {

constexpr size_t kSlotWords = 5;  // of a ballot: 320 slots are agreed on at once
constexpr size_t kFlagsWord = 5;

bool is_member(const Team& parent, const TeamPlan& plan) noexcept {
  return select(parent.pes, plan.ranks).rank(parent.state.me) >= 0;
}

/// Slow members of the team before may still be on their way out of its last sync and look at `answered` here, whose
/// number is old to the new team. Everything else of that team's is over.
void clear_area(std::byte* area, size_t nbytes) noexcept {
  constexpr size_t kKept = offsetof(SyncFlags, answered);
  constexpr size_t kBehind = kKept + sizeof(FlagLine);
  std::memset(area, 0, kKept);
  std::memset(area + kBehind, 0, nbytes - kBehind);
}

bool is_possible(const TeamPlan& plan) noexcept {
  return (plan.config_mask & SHMEM_TEAM_NUM_CONTEXTS) == 0 || (plan.config && plan.config->num_contexts >= 0);
}

}  // namespace

size_t Teams::nbytes(int npes, int slots, StreamAreas streams) {
  if (slots < kReserved || slots >= 1 << Team::kSlotBits)
    throw Error(text("SHMEM_TEAMS_MAX is %d; it must be %d to %d, because the library has %d teams of its own", slots,
                     kReserved, (1 << Team::kSlotBits) - 1, kReserved));
  const size_t areas = static_cast<size_t>(slots) * TeamAreaLayout(npes).nbytes();
  return areas + TeamDesks::nbytes(npes) + (streams == StreamAreas::made ? areas : 0);
}

Teams::Teams(PeState& state, const NodeLayout& layout, Heap& heap, size_t offset, int slots, StreamAreas streams)
    : state_(state),
      layout_(layout),
      heap_(heap),
      offset_(offset),
      desks_(state, offset + static_cast<size_t>(slots) * TeamAreaLayout(state.npes).nbytes()),
      slots_(slots, kReserved),
      streams_(streams),
      teams_(static_cast<size_t>(slots)),
      stream_teams_(static_cast<size_t>(slots)) {
  make(kWorld, {0, 1, state.npes});
  const int size = static_cast<int>(layout.members.size());
  make(kShared, layout.consecutive() ? PeSet{layout.members.front(), 1, size} : PeSet{0, 1, size, &layout.members});
}

Team& Teams::active_sets() {
  std::unique_ptr<Team>& team = teams_[kActiveSets];
  if (!team) {
    const std::lock_guard lock(making_);
    // The area is left as it is, zeros or flags of PEs that were here before: nobody had it earlier.
    const size_t nbytes = TeamAreaLayout(state_.npes).nbytes();
    const size_t at = offset_ + kActiveSets * nbytes;
    heap_.populate_header(at, nbytes);
    team = std::make_unique<Team>(state_, PeSet{0, 1, state_.npes}, state_.me, kActiveSets, layout_, at);
  }
  return *team;
}

/// Of a slot, from the start of the heap. The areas for streams lie behind the desks.
size_t Teams::stream_area(int slot) const noexcept {
  return desks_.offset() + TeamDesks::nbytes(state_.npes) +
         static_cast<size_t>(slot) * TeamAreaLayout(state_.npes).nbytes();
}

void Teams::prepare_area(size_t at) {
  const size_t nbytes = TeamAreaLayout(state_.npes).nbytes();
  heap_.populate_header(at, nbytes);
  clear_area(heap_.base() + at, nbytes);
}

Team& Teams::for_streams(const Team& team) {
  const std::lock_guard lock(making_);
  std::unique_ptr<Team>& place = stream_teams_[static_cast<size_t>(team.slot)];
  if (!place)
    place = std::make_unique<Team>(state_, team.pes, team.rank, team.slot, layout_, stream_area(team.slot),
                                   team.first_number, team.generation);
  place->for_streams = true;
  return *place;
}

Team& Teams::make(int slot, const PeSet& pes, uint64_t first_number) {
  std::unique_lock lock(making_);
  const size_t at = offset_ + static_cast<size_t>(slot) * TeamAreaLayout(state_.npes).nbytes();
  prepare_area(at);
  if (streams_ == StreamAreas::made) prepare_area(stream_area(slot));
  const uint32_t generation =
      slot < kReserved ? 0 : g_process.numbers.teams.fetch_add(1, std::memory_order_relaxed) + 1;
  auto& place = teams_[static_cast<size_t>(slot)];
  place = std::make_unique<Team>(state_, pes, pes.rank(state_.me), slot, layout_, at, first_number, generation);
  Team& made = *place;
  lock.unlock();  // copies to the GPU may wait for the driver
  show(made);
  return made;
}

void Teams::show_to(KernelTables& tables) noexcept {
  tables_ = &tables;
  for (const auto& team : teams_)
    if (team && team->slot != kActiveSets) show(*team);
}

void Teams::show(const Team& team) noexcept {
  if (!tables_) return;
  TeamRow row;
  row.handle = reinterpret_cast<uintptr_t>(team.handle());
  row.start = team.pes.start;
  row.stride = team.pes.stride;
  row.size = team.pes.size;
  row.rank = team.rank;
  row.slot = static_cast<uint32_t>(team.slot);
  tables_->set_team(row, team.pes.table ? std::span<const int>(*team.pes.table) : std::span<const int>());
}

bool Teams::split(Team& parent, const char* function, std::span<TeamPlan> plans) {
  const std::optional<Places> places = agree_on_places(parent, function, plans);
  if (!places) {
    log_info("%s: no team was made; at most %zu may exist at once (SHMEM_TEAMS_MAX)", function, teams_.size());
    return false;
  }
  // Also what makes the teams usable at once: nobody returns before all areas are ready.
  if (all_agree(parent, function, make_all(parent, function, plans, *places))) return true;
  for (TeamPlan& plan : plans)
    if (Team* team = std::exchange(plan.made, nullptr)) unmake(*team);
  return false;
}

/// The lowest slots that are free on all members of the teams to be made. Ends with the slots taken here.
std::optional<Teams::Places> Teams::agree_on_places(Team& parent, const char* function,
                                                    std::span<const TeamPlan> plans) {
  bool member = false;
  bool possible = true;
  for (const TeamPlan& plan : plans)
    if (is_member(parent, plan)) {
      member = true;
      possible &= is_possible(plan);
    }
  // Nobody goes for slots before all are here: see TeamSlots.
  Ballot coming;
  coming.common[kFlagsWord] = possible ? kCanBeMade : 0;
  if ((agree(parent, function, coming).common[kFlagsWord] & kCanBeMade) == 0) return std::nullopt;
  const auto turn = TeamSlots::turn_of_split(parent.slot);
  const TeamSlots::Maker maker(slots_, turn);
  for (;; sched_yield()) {  // again only while another thread of some PE splits another team
    const TeamSlots::Claim claim(slots_, turn);
    Places places{};
    size_t found = 0;
    bool all_have_slots = true;
    for (size_t word = 0; word < slots_.words() && found < plans.size() && all_have_slots; word += kSlotWords) {
      Ballot mine;
      for (size_t i = 0; i < kSlotWords; ++i)
        mine.common[i] = !member ? ~uint64_t{0} : claim.owns() ? slots_.free_word(word + i) : 0;
      mine.common[kFlagsWord] = !member || claim.owns() ? kHasSlots : 0;
      mine.highest = slots_.highest_number();
      const Ballot all = agree(parent, function, mine);
      all_have_slots = (all.common[kFlagsWord] & kHasSlots) != 0;
      places.first_number = std::max(places.first_number, all.highest);
      for (size_t i = 0; i < kSlotWords; ++i)
        for (uint64_t bits = all.common[i]; bits != 0 && found < plans.size(); bits &= bits - 1)
          places.slot[found++] = static_cast<int>(64 * (word + i)) + std::countr_zero(bits);
    }
    if (!all_have_slots) continue;
    if (found < plans.size()) return std::nullopt;
    for (size_t i = 0; i < plans.size(); ++i)
      if (is_member(parent, plans[i])) slots_.take(places.slot[i]);
    return places;
  }
}

/// False when this PE lacks memory for one of them.
bool Teams::make_all(const Team& parent, const char* function, std::span<TeamPlan> plans,
                     const Places& places) noexcept {
  bool all = true;
  for (size_t i = 0; i < plans.size(); ++i) {
    TeamPlan& plan = plans[i];
    if (!is_member(parent, plan)) continue;
    try {
      plan.made = &make(places.slot[i], select(parent.pes, plan.ranks), places.first_number);
      if ((plan.config_mask & SHMEM_TEAM_NUM_CONTEXTS) != 0) plan.made->config = *plan.config;
    } catch (const std::exception& e) {
      log_warn("%s: no team was made: %s", function, e.what());
      slots_.give(places.slot[i], 0);
      all = false;
    }
  }
  return all;
}

void Teams::unmake(Team& team) noexcept {
  if (gone_) gone_(team);
  if (tables_) tables_->clear_team(team.slot);
  const int slot = team.slot;
  uint64_t number = team.highest_number();
  if (std::unique_ptr<Team> twin = std::move(stream_teams_[static_cast<size_t>(slot)]))
    number = std::max(number, twin->highest_number());
  teams_[static_cast<size_t>(slot)].reset();
  slots_.give(slot, number);
}

void Teams::destroy(Team& team, const char* function) noexcept {
  state_.contexts->destroy_of(state_, team.handle());
  quiet(state_, team.context);  // no member's area is written to any more,
  sync(team, function);         // and every member knows it
  unmake(team);
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Teams of PEs that meet by an id (Teams::gather).
#include <sched.h>

#include <algorithm>
#include <bit>

#include "src/base/log.h"
#include "src/world/teams.h"

namespace railshmem {
namespace {

constexpr uint64_t kMade = 4;  // a bit of a vote, like kHasSlots and kCanBeMade

bool is_arithmetic(const std::vector<int>& pes) noexcept {
  const int step = pes.size() > 1 ? pes[1] - pes[0] : 1;
  for (size_t i = 1; i < pes.size(); ++i)
    if (pes[i] - pes[i - 1] != step) return false;
  return step != 0;
}

}  // namespace

/// A set of size 0 where the PEs are in no order that a team can have: by a stride, ascending, or descending.
PeSet Teams::set_of(std::vector<int> pes) {
  const auto size = static_cast<int>(pes.size());
  if (is_arithmetic(pes)) return {pes[0], size > 1 ? pes[1] - pes[0] : 1, size};
  const bool down = pes[0] > pes[1];
  if (down) std::reverse(pes.begin(), pes.end());
  if (std::adjacent_find(pes.begin(), pes.end(), std::greater_equal<>()) != pes.end()) return {};
  const std::lock_guard lock(making_);
  auto list = std::find(lists_.begin(), lists_.end(), pes);
  if (list == lists_.end()) list = lists_.insert(lists_.end(), std::move(pes));
  return down ? PeSet{size - 1, -1, size, &*list} : PeSet{0, 1, size, &*list};
}

/// The first round of notes. Returns the members if the team can be made once there is a slot. All members see all
/// notes, so all reach one result.
std::optional<PeSet> Teams::come(TeamMeeting& meeting, const char* function, bool possible) {
  const std::vector<TeamNote> notes = meeting.exchange({state_.me, {}, 0, possible ? kCanBeMade : 0});
  if (notes.empty()) return std::nullopt;
  uint64_t votes = ~uint64_t{0};
  std::vector<int> members;
  for (const TeamNote& note : notes) {
    members.push_back(static_cast<int>(note.pe));
    votes &= note.vote;
  }
  const PeSet pes = set_of(std::move(members));
  if (pes.size == 0)
    log_warn("%s: no team was made: its PEs must be in ascending or descending order, or at one stride", function);
  if (pes.size == 0 || (votes & kCanBeMade) == 0) return std::nullopt;
  return pes;
}

/// Agrees on the places of a team by notes, as agree_on_places() does by a collective of the parent.
std::optional<Teams::Places> Teams::vote(TeamMeeting& meeting, uint64_t id) {
  const auto turn = TeamSlots::turn_of_meeting(id);
  const TeamSlots::Maker maker(slots_, turn);
  for (;; sched_yield()) {  // again only while another thread of some PE makes another team
    const TeamSlots::Claim claim(slots_, turn);
    bool all_have_slots = true;
    uint64_t highest = 0;
    for (size_t word = 0; word < slots_.words() && all_have_slots; word += TeamNote::kSlotWords) {
      TeamNote mine{state_.me, {}, slots_.highest_number(), claim.owns() ? kHasSlots : 0};
      for (size_t i = 0; i < TeamNote::kSlotWords; ++i)
        mine.free_slots[i] = claim.owns() ? slots_.free_word(word + i) : 0;
      uint64_t votes = ~uint64_t{0}, free[TeamNote::kSlotWords];
      std::fill(std::begin(free), std::end(free), ~uint64_t{0});
      const std::vector<TeamNote> notes = meeting.exchange(mine);
      if (notes.empty()) return std::nullopt;
      for (const TeamNote& note : notes) {
        votes &= note.vote;
        highest = std::max(highest, note.highest_number);
        for (size_t i = 0; i < TeamNote::kSlotWords; ++i) free[i] &= note.free_slots[i];
      }
      all_have_slots = (votes & kHasSlots) != 0;
      for (size_t i = 0; i < TeamNote::kSlotWords && all_have_slots; ++i) {
        if (free[i] == 0) continue;
        const Places places{{static_cast<int>(64 * (word + i)) + std::countr_zero(free[i])}, highest};
        slots_.take(places.slot[0]);
        return places;
      }
    }
    if (all_have_slots) return std::nullopt;
  }
}

uint64_t Teams::new_id() {
  const std::lock_guard lock(making_);
  heap_.populate_header(desks_.offset(), TeamDesks::nbytes(state_.npes));
  return desks_.open();
}

Team* Teams::gather(const char* function, uint64_t id, int size, int index, const shmem_team_config_t* config,
                    long mask) {
  const bool possible = (mask & SHMEM_TEAM_NUM_CONTEXTS) == 0 || (config && config->num_contexts >= 0);
  TeamMeeting meeting(desks_, world().context, function, id, size, index);
  const std::optional<PeSet> pes = come(meeting, function, possible);
  if (!pes) return nullptr;
  const std::optional<Places> places = vote(meeting, id);
  if (!places) return nullptr;
  Team* team = nullptr;
  try {
    team = &make(places->slot[0], *pes, places->first_number);
    if ((mask & SHMEM_TEAM_NUM_CONTEXTS) != 0) team->config = *config;
  } catch (const std::exception& e) {
    log_warn("%s: no team was made: %s", function, e.what());
    slots_.give(places->slot[0], 0);
  }
  // This round also makes the team usable: nobody returns before all areas are ready.
  uint64_t votes = ~uint64_t{0};
  for (const TeamNote& note : meeting.exchange({state_.me, {}, 0, team ? kMade : 0})) votes &= note.vote;
  if ((votes & kMade) != 0) return team;
  // One more round keeps the members of a failed vote here until all have read the notes. A late member that finds no
  // notes takes the team as made, because only members with a team leave right after the vote.
  meeting.exchange({});
  if (team) unmake(*team);
  return nullptr;
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// What a PE keeps for collectives of active sets between calls.
#pragma once

#include <functional>

#include "src/active/active_set.h"
#include "src/team/team.h"

namespace railshmem {

class ActiveSets {
 public:
  /// `make_team` gives a team of all PEs that nobody else uses; it is asked at the first call for such a set, and must
  /// be empty where several threads may run collectives of active sets at once.
  ActiveSets(PeState& state, std::function<Team&()> make_team);
  ~ActiveSets();
  ActiveSets(const ActiveSets&) = delete;

  /// The set of a call, without what find_active_set() adds.
  ActiveSet begin(const char* function) noexcept { return {state_, context_, function, {}, -1, nullptr, nullptr}; }
  /// Team algorithms are faster: uses them for sets of all PEs, where that is possible.
  void use_team(ActiveSet& set) noexcept {
    if (set.size() == state_.npes && make_team_) set.team = team_ ? team_ : first_use(set.function);
  }

 private:
  Team* first_use(const char* function) noexcept;

  PeState& state_;
  Context context_;
  std::function<Team&()> make_team_;
  Team* team_ = nullptr;
};

}  // namespace railshmem

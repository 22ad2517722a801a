// SPDX-License-Identifier: BSD-3-Clause
// The members of a node tell each other that they have come to a place in a collective.
#pragma once

#include "src/collective/flags.h"

namespace railshmem {

/// Uses the lines of a full exchange, of this node's members only. All members of the team make equally many meetings,
/// also those that are alone on their node, because exchanges of the whole team count on with these numbers.
class NodeMeeting {
 public:
  /// Tells the others that this PE has come: what it stored before is visible to them.
  explicit NodeMeeting(Team& team) noexcept : team_(team), number_(begin_exchange(team)) {
    for (int i = 1; i < team.nodes.size_here(); ++i)
      raise_here(team, (team.nodes.my_index + i) % team.nodes.size_here(), team.area.exchange(number_, team.rank),
                 number_);
  }

  /// Whether member `index` of the node has come. Never blocks.
  bool has_come(int index) const noexcept {
    return index == team_.nodes.my_index ||
           reached(team_.mine(team_.area.exchange(number_, team_.nodes.members[static_cast<size_t>(index)])), number_);
  }
  bool all_have_come() noexcept {
    while (come_ < team_.nodes.size_here() && has_come(come_)) ++come_;
    return come_ == team_.nodes.size_here();
  }
  /// The first member that may be missing.
  int missing() const noexcept {
    return team_.nodes.members[static_cast<size_t>(std::min(come_, team_.nodes.size_here() - 1))];
  }
  void await_all(const char* function) noexcept {
    for (const int member : team_.nodes.members)
      if (member != team_.rank) await(team_, function, member, team_.area.exchange(number_, member), number_);
  }

 private:
  Team& team_;
  const uint64_t number_;
  int come_ = 0;  ///< members below this index have come
};

}  // namespace railshmem

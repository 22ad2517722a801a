// SPDX-License-Identifier: BSD-3-Clause
// This PE's own data on its way to all members: to one member of each other node, in chunks, and round its own node.
#pragma once

#include <vector>

#include "src/collective/pass_on.h"

namespace railshmem {

class Spread {
 public:
  /// The data at `source` goes to `place`, a part of `dest`, on all members and on this PE itself. `dest` and `come`
  /// are as in PassOn. `arrivals`: null, or tells this node's members of every chunk.
  Spread(Team& team, const char* function, Background& background, NodeMeeting& come, std::byte* dest, size_t nbytes,
         std::byte* place, const std::byte* source, const Chunks& cut, Arrivals* arrivals = nullptr) noexcept
      : team_(team),
        background_(background),
        come_(come),
        others_(team),
        at_(place - dest),
        place_(place),
        operand_(team.state, dest, nbytes),
        source_(source),
        cut_(cut),
        arrivals_(arrivals) {
    const TeamNodes& nodes = team.nodes;
    const int count = static_cast<int>(nodes.leaders.size());
    if (cut.count() == 0) return;
    for (int i = 1; i < count; ++i)
      sends_.push_back(
          {ChunkSender(team, function, LinkKind::results, nodes.partner((nodes.my_node + i) % count, nodes.my_index))});
    rounds_.resize(others_.count() + (place == source && !arrivals ? 0 : 1));
  }

  /// Chunks below `ready` are final and may go. Does what can be done; true when something moved.
  bool turn(size_t ready) noexcept {
    bool moved = false;
    for (Send& send : sends_) {
      if (send.next >= ready || !send.link.granted()) continue;
      send.link.send(place_ + cut_.start(send.next), source_ + cut_.start(send.next), cut_.length(send.next));
      ++send.next;
      moved = true;
    }
    for (size_t i = 0; i < rounds_.size(); ++i) moved |= go_round(i, ready);
    return moved;
  }

  bool over() noexcept {
    for (const Send& send : sends_)
      if (send.next < cut_.count()) return false;
    for (const Round& round : rounds_)
      if (round.next < cut_.count() || !background_.finished(round.last)) return false;
    return true;
  }
  /// A member that has not taken all chunks; -1: none.
  int missing() const noexcept {
    for (const Send& send : sends_)
      if (send.next < cut_.count()) return send.link.to();
    return -1;
  }

 private:
  struct Send {
    ChunkSender link;
    size_t next = 0;
  };
  /// To one member of the node, or to this PE's own place.
  struct Round {
    size_t next = 0;
    Background::Ticket last = DeviceQueue::kDone;
  };

  /// Copy engines get all that is ready at once; the CPU copies a chunk a turn and looks at the network in between.
  bool go_round(size_t i, size_t ready) noexcept {
    Round& round = rounds_[i];
    if (round.next >= ready || (i < others_.count() && !come_.all_have_come())) return false;
    const size_t until = background_.goes_on() && !arrivals_ ? ready : round.next + 1;
    const size_t first = cut_.start(round.next), end = cut_.start(until - 1) + cut_.length(until - 1);
    const int member = i < others_.count() ? others_.rank(i) : team_.rank;
    std::byte* const to = i < others_.count() ? operand_.of(team_, member) + at_ : place_;
    round.last = background_.copy(to + first, source_ + first, end - first, i);
    if (arrivals_) round.last = arrivals_->notify(member, team_.rank, round.next, i);
    round.next = until;
    return true;
  }

  Team& team_;
  Background& background_;
  NodeMeeting& come_;
  const NodeOthers others_;
  const ptrdiff_t at_;  ///< of place_ in dest
  std::byte* const place_;
  const Operand operand_;
  const std::byte* const source_;
  const Chunks cut_;
  Arrivals* const arrivals_;
  std::vector<Send> sends_;
  std::vector<Round> rounds_;  ///< by NodeOthers; the last one is this PE's own, where it has something to do
};

}  // namespace railshmem

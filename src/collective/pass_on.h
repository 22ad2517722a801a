// SPDX-License-Identifier: BSD-3-Clause
// Data that comes to this PE from other nodes for all of its node: each chunk is passed on when it arrives.
#pragma once

#include <array>
#include <vector>

#include "src/collective/arrivals.h"
#include "src/collective/background.h"
#include "src/collective/chunk_link.h"
#include "src/collective/node_meeting.h"
#include "src/collective/operand.h"

namespace railshmem {

/// The members of this PE's node but the PE itself, in a circle: each PE starts with another one.
class NodeOthers {
 public:
  explicit NodeOthers(const Team& team) noexcept : nodes_(team.nodes) {}
  size_t count() const noexcept { return static_cast<size_t>(nodes_.size_here()) - 1; }
  /// The rank of the one that comes `i` places behind this PE, counted from 0.
  int rank(size_t i) const noexcept {
    return nodes_.members[(static_cast<size_t>(nodes_.my_index) + 1 + i) % static_cast<size_t>(nodes_.size_here())];
  }

 private:
  const TeamNodes& nodes_;
};

/// Chunks may come in any order, and from any number of members.
class PassOn {
 public:
  /// `dest` is symmetric, this PE's own address of it, and mapped within the node. `come` tells who may be written to.
  /// `arrivals`: null, or tells of every chunk. All arguments outlive this.
  PassOn(Team& team, Background& background, NodeMeeting& come, std::byte* dest, size_t nbytes,
         Arrivals* arrivals = nullptr) noexcept
      : team_(team),
        background_(background),
        come_(come),
        others_(team),
        dest_(dest),
        operand_(team.state, dest, nbytes),
        arrivals_(arrivals) {}

  /// From now on chunks may come from `from`, into the bytes of `dest` from `place` on.
  void expect(int from, std::byte* place, const Chunks& cut) {
    incoming_.push_back({ChunkReceiver(team_, LinkKind::results, from, cut.count()), place, cut, {}});
  }

  /// Does what can be done. True when something moved.
  bool turn() noexcept {
    if (others_.count() > 0 && !come_.all_have_come()) return false;
    bool moved = false;
    for (Incoming& incoming : incoming_) moved |= pass(incoming);
    return moved;
  }
  bool over() const noexcept {
    for (const Incoming& incoming : incoming_)
      if (!incoming.link.over()) return false;
    return true;
  }
  /// A member from which chunks are missing; -1: none.
  int missing() const noexcept {
    for (const Incoming& incoming : incoming_)
      if (!incoming.link.over()) return incoming.link.from();
    return -1;
  }

 private:
  using Ticket = Background::Ticket;
  struct Incoming {
    ChunkReceiver link;
    std::byte* place;
    Chunks cut;
    std::array<std::vector<Ticket>, ChunkSignals::kWindow> passed;  ///< by chunk modulo the window; empty: not begun
  };

  bool pass(Incoming& incoming) noexcept {
    bool moved = false;
    for (size_t chunk = incoming.link.first(); chunk < incoming.link.end(); ++chunk) {
      if (incoming.link.was_used(chunk)) continue;
      std::vector<Ticket>& passed = incoming.passed[chunk % ChunkSignals::kWindow];
      if (passed.empty()) {
        if (!incoming.link.arrived(chunk)) continue;
        begin(incoming, chunk, passed);
        moved = true;
      }
      bool over = true;
      for (const Ticket ticket : passed) over &= background_.finished(ticket);
      if (!over) continue;
      passed.clear();
      incoming.link.use(chunk);
      moved = true;
    }
    return moved;
  }

  void begin(const Incoming& incoming, size_t chunk, std::vector<Ticket>& passed) noexcept {
    std::byte* const here = incoming.place + incoming.cut.start(chunk);
    for (size_t i = 0; i < others_.count(); ++i) {
      passed.push_back(
          background_.copy(operand_.of(team_, others_.rank(i)) + (here - dest_), here, incoming.cut.length(chunk), i));
      if (arrivals_) passed.push_back(arrivals_->notify(others_.rank(i), incoming.link.from(), chunk, i));
    }
    if (arrivals_) passed.push_back(arrivals_->notify(team_.rank, incoming.link.from(), chunk, others_.count()));
  }

  Team& team_;
  Background& background_;
  NodeMeeting& come_;
  const NodeOthers others_;
  std::byte* const dest_;
  const Operand operand_;
  Arrivals* const arrivals_;
  std::vector<Incoming> incoming_;
};

}  // namespace railshmem

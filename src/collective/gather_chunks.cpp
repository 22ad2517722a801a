// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/gather_chunks.h"

#include <array>
#include <vector>

#include "src/collective/background.h"
#include "src/collective/chunk_link.h"
#include "src/collective/chunk_loop.h"
#include "src/collective/node_meeting.h"

namespace railshmem {
namespace {

class GatherChunks {
 public:
  explicit GatherChunks(const Blocks& blocks) noexcept
      : blocks_(blocks),
        team_(blocks.team),
        nodes_(team_.nodes),
        cut_(cut(team_, blocks.nbytes)),
        come_(team_),
        background_(team_, blocks.function),
        others_(static_cast<size_t>(nodes_.size_here()) - 1),
        dest_(team_.state, blocks.dest, blocks.nbytes * static_cast<size_t>(team_.size())),
        rounds_(others_ + (blocks.place_of(team_.rank) == blocks.source ? 0 : 1)) {
    const int count = static_cast<int>(nodes_.leaders.size());
    for (int i = 1; i < count; ++i) {
      const int to = (nodes_.my_node + i) % count, from = (nodes_.my_node - i + count) % count;
      sends_.push_back({ChunkSender(team_, blocks.function, LinkKind::results, nodes_.partner(to, nodes_.my_index))});
      for (int index = nodes_.my_index; index < nodes_.size_of(from); index += nodes_.size_here())
        receives_.push_back({ChunkReceiver(team_, LinkKind::results, nodes_.partner(from, index), cut_.count()), {}});
    }
  }

  void run() noexcept {
    run_chunks(
        team_, blocks_.function, [this] { return turn(); }, [this] { return whom(); });
    settle(team_);
    NodeMeeting(team_).await_all(blocks_.function);  // each has all that the others pass on
  }

 private:
  using Ticket = Background::Ticket;
  struct Send {
    ChunkSender link;
    size_t next = 0;
  };
  /// Chunks that arrived and are on their way to the other members of the node.
  struct Receive {
    ChunkReceiver link;
    std::array<std::vector<Ticket>, ChunkSignals::kWindow> passed;  ///< by chunk modulo the window; empty: not begun
  };
  /// The own block on its way to one member of the node, or to its place in this PE's own dest.
  struct Round {
    size_t next = 0;
    Ticket last = DeviceQueue::kDone;
  };

  /// The node's member that comes `i` places behind this PE, counted from 0: each starts with another one.
  int other(size_t i) const noexcept {
    return nodes_.members[(static_cast<size_t>(nodes_.my_index) + 1 + i) % static_cast<size_t>(nodes_.size_here())];
  }
  std::byte* place_at(size_t i, int owner, size_t chunk) const noexcept {
    std::byte* const dest = i < others_ ? dest_.of(team_, other(i)) : blocks_.dest;
    return dest + static_cast<size_t>(owner) * blocks_.place_step + cut_.start(chunk);
  }

  ChunkTurn turn() noexcept {
    bool moved = send();
    moved |= send_round();
    bool over = true;
    for (Receive& receive : receives_) {
      moved |= pass_on(receive);
      over &= receive.link.over();
    }
    for (const Send& send : sends_) over &= send.next == cut_.count();
    for (const Round& round : rounds_) over &= round.next == cut_.count() && background_.finished(round.last);
    return over ? ChunkTurn::over : moved ? ChunkTurn::moved : ChunkTurn::idle;
  }

  bool send() noexcept {
    bool moved = false;
    for (Send& send : sends_) {
      if (send.next == cut_.count() || !send.link.granted()) continue;
      send.link.send(blocks_.place_of(team_.rank) + cut_.start(send.next), blocks_.source + cut_.start(send.next),
                     cut_.length(send.next));
      ++send.next;
      moved = true;
    }
    return moved;
  }

  /// Copy engines get all at once; the CPU copies a chunk a turn and looks at the network in between.
  bool send_round() noexcept {
    bool moved = false;
    for (size_t i = 0; i < rounds_.size(); ++i) {
      Round& round = rounds_[i];
      if (round.next == cut_.count() || (i < others_ && !come_.all_have_come())) continue;
      const size_t chunk = round.next;
      const bool whole = background_.goes_on();
      round.last = background_.copy(place_at(i, team_.rank, chunk), blocks_.source + cut_.start(chunk),
                                    whole ? blocks_.nbytes : cut_.length(chunk), i);
      round.next = whole ? cut_.count() : chunk + 1;
      moved = true;
    }
    return moved;
  }

  /// Whatever has arrived, in any order.
  bool pass_on(Receive& receive) noexcept {
    if (others_ > 0 && !come_.all_have_come()) return false;
    bool moved = false;
    for (size_t chunk = receive.link.first(); chunk < receive.link.end(); ++chunk) {
      if (receive.link.was_used(chunk)) continue;
      std::vector<Ticket>& passed = receive.passed[chunk % ChunkSignals::kWindow];
      if (passed.empty()) {
        if (!receive.link.arrived(chunk)) continue;
        const int owner = receive.link.from();
        const std::byte* const here = blocks_.place_of(owner) + cut_.start(chunk);
        for (size_t i = 0; i < others_; ++i)
          passed.push_back(background_.copy(place_at(i, owner, chunk), here, cut_.length(chunk), i));
        moved = true;
      }
      bool over = true;
      for (const Ticket ticket : passed) over &= background_.finished(ticket);
      if (!over) continue;
      passed.clear();
      receive.link.use(chunk);
      moved = true;
    }
    return moved;
  }

  int whom() noexcept {
    if (!come_.all_have_come()) return come_.missing();
    for (const Receive& receive : receives_)
      if (!receive.link.over()) return receive.link.from();
    for (const Send& send : sends_)
      if (send.next < cut_.count()) return send.link.to();
    return team_.rank;
  }

  const Blocks& blocks_;
  Team& team_;
  const TeamNodes& nodes_;
  const Chunks cut_;
  NodeMeeting come_;
  Background background_;
  const size_t others_;  ///< members of the node but this PE
  const Operand dest_;
  std::vector<Send> sends_;
  std::vector<Receive> receives_;
  std::vector<Round> rounds_;  ///< by other(); the last one is this PE's own, if its block is not in place
};

}  // namespace

void blocks_by_chunks(const Blocks& blocks) noexcept {
  GatherChunks(blocks).run();
}

}  // namespace railshmem

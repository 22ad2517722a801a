// SPDX-License-Identifier: BSD-3-Clause
// Operands of a reduction in chunks on their way: from the members that combine their nodes' to the owner of a share.
#pragma once

#include <vector>

#include "src/collective/chunk_link.h"
#include "src/collective/node_meeting.h"
#include "src/collective/node_sums.h"
#include "src/collective/producers.h"
#include "src/collective/shares.h"

namespace railshmem {

/// Chunks of one link that are on their way at once; each has a slot at both ends.
inline constexpr uint64_t kOperandWindow = 4;

/// The place of chunk i of a link at one end.
struct Slots {
  std::byte* first;
  size_t chunk;  ///< bytes

  std::byte* of(size_t i) const noexcept { return first + i % kOperandWindow * chunk; }
};

/// This PE combines its node's operands of a share and sends them to the share's owner.
class OperandSend {
 public:
  /// `sums`: of this PE's own memory. `landing`: symmetric, at the owner. `producers`: null where source is complete.
  OperandSend(Team& team, const char* function, int owner, const Share& share, const Chunks& cut, Slots sums,
              Slots landing, Producers* producers) noexcept
      : link_(team, function, LinkKind::operands, owner),
        share_(share),
        cut_(cut),
        sums_(sums),
        landing_(landing),
        producers_(producers) {}

  bool over() const noexcept { return sent_ == cut_.count(); }
  int owner() const noexcept { return link_.to(); }
  /// Does what can be done. `come`: all members of the node have come. True when something moved.
  bool turn(NodeSums& sums, Background& background, size_t element, bool come) noexcept {
    const size_t before = computed_ + sent_;
    // The slot of a chunk is free when its receiver has used the chunk one window earlier, for which it grants this
    // one.
    if (come && computed_ < cut_.count() && computed_ - sent_ < kOperandWindow &&
        (computed_ < kOperandWindow || link_.granted(computed_ - sent_ + 1)) &&
        (!producers_ || producers_->are_ready(owner(), cut_.start(computed_), cut_.length(computed_)))) {
      const size_t at = share_.source_at + cut_.start(computed_);
      if (!sums.ready(at))
        tickets_[computed_ % kOperandWindow] =
            sums.of_members(at, cut_.length(computed_) / element, sums_.of(computed_));
      ++computed_;
    }
    if (sent_ < computed_ && link_.granted() && background.finished(tickets_[sent_ % kOperandWindow])) {
      const std::byte* const plain = sums.ready(share_.source_at + cut_.start(sent_));
      link_.send(landing_.of(sent_), plain ? plain : sums_.of(sent_), cut_.length(sent_));
      ++sent_;
    }
    return computed_ + sent_ != before;
  }

 private:
  ChunkSender link_;
  const Share share_;
  const Chunks cut_;
  const Slots sums_;
  const Slots landing_;
  Producers* const producers_;
  size_t computed_ = 0;  ///< chunks that were given to be combined
  size_t sent_ = 0;
  NodeSums::Ticket tickets_[kOperandWindow] = {};
};

/// This PE owns a share: it combines its own node's operands with those of the other nodes.
class OwnShare {
 public:
  /// `senders` by node, this PE's own among them. `landings` by node; the own one is for the own node's operands.
  /// Results go to `dest`, or to `aside`, which may be any memory, where that is not null. `producers`: as in
  /// OperandSend.
  OwnShare(Team& team, const Share& share, const Chunks& cut, const std::vector<int>& senders,
           std::vector<Slots> landings, std::byte* dest, std::byte* aside, Producers* producers)
      : team_(team),
        share_(share),
        cut_(cut),
        landings_(std::move(landings)),
        dest_(dest),
        aside_(aside),
        producers_(producers) {
    for (size_t node = 0; node < senders.size() && cut.count() > 0; ++node)
      if (senders[node] != team.rank)
        links_.push_back({ChunkReceiver(team, LinkKind::operands, senders[node], cut.count(), kOperandWindow), node});
  }

  /// Chunks that are final; all before them are, too.
  size_t ready() const noexcept { return ready_; }
  bool over() const noexcept { return ready_ == cut_.count(); }
  /// A member whose operands are missing; -1: none.
  int missing() const noexcept {
    for (const Link& link : links_)
      if (!link.receiver.over() && !link.receiver.arrived(link.receiver.first())) return link.receiver.from();
    return -1;
  }
  /// Does what can be done. True when something moved.
  bool turn(NodeSums& sums, Background& background, size_t element, bool come) noexcept;

 private:
  struct Link {
    ChunkReceiver receiver;
    size_t node;
  };
  enum class State : uint8_t { idle, summing, combining, moving, final };
  struct Slot {
    State state = State::idle;
    NodeSums::Ticket ticket = DeviceQueue::kDone;
  };

  bool advance(size_t chunk, NodeSums& sums, Background& background, size_t element) noexcept;
  bool all_arrived(size_t chunk) const noexcept;
  NodeSums::Ticket combine(size_t chunk, NodeSums& sums, size_t element) noexcept;
  std::byte* result(size_t chunk) const noexcept;

  Team& team_;
  const Share share_;
  const Chunks cut_;
  const std::vector<Slots> landings_;
  std::byte* const dest_;
  std::byte* const aside_;
  Producers* const producers_;
  std::vector<Link> links_;
  Slot slots_[kOperandWindow];
  size_t ready_ = 0;
};

}  // namespace railshmem

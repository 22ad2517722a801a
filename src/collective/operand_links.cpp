// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/operand_links.h"

#include <algorithm>

namespace railshmem {

bool OwnShare::turn(NodeSums& sums, Background& background, size_t element, bool come) noexcept {
  if (!come) return false;
  bool moved = false;
  for (size_t chunk = ready_; chunk < std::min(cut_.count(), ready_ + kOperandWindow); ++chunk)
    moved |= advance(chunk, sums, background, element);
  // Chunks are given up in their order, so that one window serves all links.
  for (; ready_ < cut_.count() && slots_[ready_ % kOperandWindow].state == State::final; ++ready_) {
    slots_[ready_ % kOperandWindow].state = State::idle;
    for (Link& link : links_) link.receiver.use(ready_);
    moved = true;
  }
  return moved;
}

bool OwnShare::advance(size_t chunk, NodeSums& sums, Background& background, size_t element) noexcept {
  Slot& slot = slots_[chunk % kOperandWindow];
  const State before = slot.state;
  const size_t at = share_.source_at + cut_.start(chunk);
  if (slot.state == State::idle &&
      (!producers_ || producers_->are_ready(team_.rank, cut_.start(chunk), cut_.length(chunk)))) {
    const auto own = static_cast<size_t>(team_.nodes.my_node);
    slot.ticket = sums.ready(at) ? DeviceQueue::kDone
                                 : sums.of_members(at, cut_.length(chunk) / element, landings_[own].of(chunk));
    slot.state = State::summing;
  }
  if (slot.state == State::summing && background.finished(slot.ticket) && all_arrived(chunk)) {
    slot.ticket = combine(chunk, sums, element);
    slot.state = State::combining;
  }
  if (slot.state == State::combining && background.finished(slot.ticket)) {
    if (aside_) slot.ticket = background.copy(aside_ + cut_.start(chunk), result(chunk), cut_.length(chunk), 0);
    slot.state = aside_ ? State::moving : State::final;
  }
  if (slot.state == State::moving && background.finished(slot.ticket)) slot.state = State::final;
  return slot.state != before;
}

bool OwnShare::all_arrived(size_t chunk) const noexcept {
  for (const Link& link : links_)
    if (!link.receiver.arrived(chunk)) return false;
  return true;
}

NodeSums::Ticket OwnShare::combine(size_t chunk, NodeSums& sums, size_t element) noexcept {
  std::vector<const std::byte*> results(landings_.size());
  for (size_t node = 0; node < landings_.size(); ++node) results[node] = landings_[node].of(chunk);
  const auto own = static_cast<size_t>(team_.nodes.my_node);
  if (const std::byte* const plain = sums.ready(share_.source_at + cut_.start(chunk))) results[own] = plain;
  return sums.of_nodes(results, cut_.length(chunk) / element, result(chunk));
}

/// Where a chunk's result is computed: in the window of the own node's operands, if it goes aside from there.
std::byte* OwnShare::result(size_t chunk) const noexcept {
  if (aside_) return landings_[static_cast<size_t>(team_.nodes.my_node)].of(chunk);
  return dest_ + share_.dest_at + cut_.start(chunk);
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Visits blocks of members' operands, in the memory of node peers or fetched ahead through the network.
#pragma once

#include <algorithm>

#include "src/collective/link.h"
#include "src/collective/reduction.h"

namespace railshmem {

/// Goes through a part block by block, and through the operands of each block in rank order. What must be fetched is
/// fetched a window ahead into one half of the scratch while the other half is worked on; nobody else uses the scratch
/// then, because all members are in this collective.
class OperandStream {
 public:
  static constexpr size_t kBlockBytes = size_t{16} << 10;  // result and operand together stay in a first-level cache

  OperandStream(Team& team, const Reduction& job, const Operands& operands, Part part,
                size_t block_bytes = kBlockBytes) noexcept
      : team_(team),
        job_(job),
        operands_(operands),
        part_(part),
        block_(std::min(block_bytes / job.element, part.count)),
        window_(kHalf / (block_ * job.element)),
        items_((part.count + block_ - 1) / block_ * static_cast<size_t>(operands.ranks.size)) {}

  /// Calls visit(part, index in ranks, its operand); the operand is gone after the call unless `stays`.
  template <class Visit>
  void run(Visit&& visit) noexcept {
    bool fetched = fetch(0);
    for (size_t start = 0; start < items_; start += window_) {
      if (fetched) settle(team_);
      fetched = fetch(start + window_);
      for (size_t i = start; i < std::min(start + window_, items_); ++i) {
        const Item item = at(i);
        const Place place = locate_operand(item);
        visit(item.part, item.index, place.direct ? place.direct : landing(i), place.direct != nullptr);
      }
    }
  }

 private:
  static constexpr size_t kHalf = TeamAreaLayout::kScratchBytes / 2;

  struct Item {
    Part part;
    int index;
  };
  Item at(size_t i) const noexcept {
    const auto operands = static_cast<size_t>(operands_.ranks.size);
    const size_t first = i / operands * block_;
    return {{part_.first + first, std::min(block_, part_.count - first)}, static_cast<int>(i % operands)};
  }
  const std::byte* address(const Item& item) const noexcept { return operands_.from + item.part.first * job_.element; }
  Place locate_operand(const Item& item) const noexcept {
    return locate(team_.state, job_.function, address(item), item.part.count * job_.element,
                  team_.pes.pe(operands_.ranks[item.index]));
  }
  std::byte* landing(size_t i) const noexcept {
    return team_.mine(team_.area.scratch()) + i / window_ % 2 * kHalf + i % window_ * block_ * job_.element;
  }
  /// True when something is on its way.
  bool fetch(size_t start) noexcept {
    bool posted = false;
    for (size_t i = start; i < std::min(start + window_, items_); ++i) {
      const Item item = at(i);
      const Place place = locate_operand(item);
      if (place.direct) continue;
      net_get_nbi(*team_.state.network, *team_.context.net, place.remote, landing(i), item.part.count * job_.element);
      posted = true;
    }
    return posted;
  }

  Team& team_;
  const Reduction& job_;
  const Operands operands_;
  const Part part_;
  const size_t block_;   ///< elements
  const size_t window_;  ///< items fetched at a time
  const size_t items_;   ///< blocks times operands
};

}  // namespace railshmem

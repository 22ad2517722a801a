// SPDX-License-Identifier: BSD-3-Clause
// Visits blocks of members' operands, in the memory of node peers or fetched ahead: through the network, or from the
// memory of GPUs.
#pragma once

#include <algorithm>

#include "src/collective/link.h"
#include "src/collective/reduction.h"
#include "src/rma/copy_batch.h"

namespace railshmem {

/// Goes through a part block by block, and through the operands of each block in rank order. What must be fetched is
/// fetched a window ahead: as much as fits into one half of the scratch, while the other half is worked on. Nobody else
/// uses the scratch then, because all members are in this collective.
class OperandStream {
 public:
  static constexpr size_t kBlockBytes = size_t{16} << 10;  // result and operand together stay in a first-level cache

  OperandStream(Team& team, const Reduction& job, const Operands& operands, Part part,
                size_t block_bytes = kBlockBytes) noexcept
      : team_(team),
        job_(job),
        operands_(operands),
        staged_(team.state.device && team.state.device->is_device(operands.from)),
        copies_(team.state.device),
        part_(part),
        block_(std::min(block_bytes / job.element, part.count)),
        slots_(kHalf / (block_ * job.element)),
        items_((part.count + block_ - 1) / block_ * static_cast<size_t>(operands.ranks.size)) {}

  /// Calls visit(part, index in ranks, its operand, stays); the operand is gone after the call unless `stays`.
  template <class Visit>
  void run(Visit&& visit) noexcept {
    Window now = fetch({});
    while (now.first < items_) {
      if (now.fetched > 0) {
        copies_.finish();
        settle(team_);
      }
      const Window next = fetch(now);
      size_t slot = 0;
      for (size_t i = now.first; i < now.end; ++i) {
        const Item item = at(i);
        const PeerAddress there = locate_operand(item);
        visit(item.part, item.index, stays(there) ? there.mapped : landing(now, slot++), stays(there));
      }
      now = next;
    }
  }

 private:
  static constexpr size_t kHalf = TeamAreaLayout::kScratchBytes / 2;

  struct Item {
    Part part;
    int index;
  };
  struct Window {
    size_t first = 0;
    size_t end = 0;  ///< items
    size_t fetched = 0;
    size_t half = 0;
  };

  Item at(size_t i) const noexcept {
    const auto operands = static_cast<size_t>(operands_.ranks.size);
    const size_t first = i / operands * block_;
    return {{part_.first + first, std::min(block_, part_.count - first)}, static_cast<int>(i % operands)};
  }
  bool stays(const PeerAddress& there) const noexcept { return there.mapped && !staged_; }
  PeerAddress locate_operand(const Item& item) const noexcept {
    return locate(team_.state, job_.function, operands_.from + item.part.first * job_.element,
                  item.part.count * job_.element, team_.pes.pe(operands_.ranks[item.index]));
  }
  std::byte* landing(const Window& window, size_t slot) const noexcept {
    return team_.mine(team_.area.scratch()) + window.half * kHalf + slot * block_ * job_.element;
  }
  /// Posts what the window behind `last` needs.
  Window fetch(const Window& last) noexcept {
    Window window{last.end, last.end, 0, 1 - last.half};
    for (; window.end < items_; ++window.end) {
      const Item item = at(window.end);
      const PeerAddress there = locate_operand(item);
      if (stays(there)) continue;
      if (window.fetched == slots_) break;
      std::byte* const to = landing(window, window.fetched++);
      const size_t nbytes = item.part.count * job_.element;
      if (there.mapped)
        copies_.add(to, there.mapped, nbytes);
      else
        net_issue(*team_.state.network, get_op(*team_.context.net, there.remote, to, nbytes, Local::lent));
    }
    return window;
  }

  Team& team_;
  const Reduction& job_;
  const Operands operands_;
  const bool staged_;  ///< the CPU cannot read operands where they are
  CopyBatch copies_;
  const Part part_;
  const size_t block_;  ///< elements
  const size_t slots_;  ///< operands of a window that must be fetched, at most
  const size_t items_;  ///< blocks times operands
};

}  // namespace railshmem

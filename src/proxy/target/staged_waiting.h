// SPDX-License-Identifier: BSD-3-Clause
// Requests for staged data that wait for a slot of the target.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "src/proxy/target/staged_job.h"

namespace railshmem {

struct WaitingOrder {
  StagedOrder order;
  std::vector<std::byte> payload;  ///< that came along
};

/// Oldest first, those for slots of each kind apart. Bounded by what sources may have unanswered (kWindow per
/// endpoint); grows only when slots are short.
class StagedWaiting {
 public:
  bool empty(SlotKind kind) const noexcept { return queues_[index(kind)].empty(); }
  /// `payload` null: nothing came along.
  void push(const StagedOrder& order, SlotKind kind, const std::byte* payload) noexcept {
    const size_t carried = payload != nullptr ? order.request.nbytes : 0;
    queues_[index(kind)].push_back({order, std::vector<std::byte>(payload, payload + carried)});
  }
  WaitingOrder pop(SlotKind kind) noexcept {
    WaitingOrder first = std::move(queues_[index(kind)].front());
    queues_[index(kind)].pop_front();
    return first;
  }
  bool has(const StagedOrder& order) const noexcept {
    for (const std::deque<WaitingOrder>& queue : queues_)
      for (const WaitingOrder& waiting : queue)
        if (waiting.order.is(order)) return true;
    return false;
  }

 private:
  static size_t index(SlotKind kind) noexcept { return static_cast<size_t>(kind); }

  std::deque<WaitingOrder> queues_[kSlotKinds];
};

}  // namespace railshmem

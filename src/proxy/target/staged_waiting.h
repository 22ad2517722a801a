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

/// Oldest first, those for a small slot apart. Bounded by what sources may have unanswered (kWindow per endpoint);
/// grows only when slots are short.
class StagedWaiting {
 public:
  bool empty(bool is_small) const noexcept { return queues_[is_small].empty(); }
  /// `payload` null: nothing came along.
  void push(const StagedOrder& order, const std::byte* payload) noexcept {
    const size_t carried = payload != nullptr ? order.request.nbytes : 0;
    queues_[order.is_small()].push_back({order, std::vector<std::byte>(payload, payload + carried)});
  }
  WaitingOrder pop(bool is_small) noexcept {
    WaitingOrder first = std::move(queues_[is_small].front());
    queues_[is_small].pop_front();
    return first;
  }
  bool has(const StagedOrder& order) const noexcept {
    for (const WaitingOrder& waiting : queues_[order.is_small()])
      if (waiting.order.is(order)) return true;
    return false;
  }

 private:
  std::deque<WaitingOrder> queues_[2];
};

}  // namespace railshmem

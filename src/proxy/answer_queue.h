// SPDX-License-Identifier: BSD-3-Clause
// Answers that a target owes, in one queue; acknowledgements to the same scope are folded into one.
#pragma once

#include <cstdint>
#include <vector>

#include "src/plugin/rail.h"
#include "src/proxy/message.h"

namespace railshmem {

struct PendingAnswer {
  Endpoint to;
  Answer kind;
  uint16_t scope;  ///< of an acknowledgement
  uint32_t cell;   ///< of a reply
  uint64_t value;  ///< of a reply; count of an acknowledgement
};

/// Grows only when peers ask faster than the rail takes answers. Its size is bounded by what they may have unanswered
/// (Tuning::max_unanswered and their cells), so growth ends.
class AnswerQueue {
 public:
  explicit AnswerQueue(int npes) : ring_(kFirstCapacity), last_acknowledge_(static_cast<size_t>(npes) * 2, kNowhere) {}

  bool empty() const noexcept { return head_ == tail_; }
  size_t size() const noexcept { return static_cast<size_t>(tail_ - head_); }

  void acknowledge(Endpoint to, uint16_t scope, uint64_t count) noexcept {
    uint64_t& last = last_acknowledge_[slot_of(to)];
    if (last != kNowhere && last >= head_ && at(last).scope == scope) {
      at(last).value += count;
      return;
    }
    last = tail_;
    push({to, Answer::acknowledge, scope, 0, count});
  }
  void reply(Endpoint to, uint32_t cell, uint64_t value) noexcept { push({to, Answer::reply, 0, cell, value}); }

  const PendingAnswer& front() const noexcept { return ring_[head_ & (ring_.size() - 1)]; }
  void pop() noexcept { ++head_; }
  /// Puts the first one last: its target has no room now, others may have.
  void rotate() noexcept {
    const PendingAnswer first = front();
    pop();
    if (first.kind == Answer::acknowledge) {
      acknowledge(first.to, first.scope, first.value);
    } else {
      push(first);
    }
  }

 private:
  static constexpr size_t kFirstCapacity = 1024;  // a power of two: positions are masked
  static constexpr uint64_t kNowhere = ~uint64_t{0};

  static size_t slot_of(Endpoint to) noexcept {
    return static_cast<size_t>(to.pe) * 2 + (to.port == Port::host ? 1 : 0);
  }
  PendingAnswer& at(uint64_t position) noexcept { return ring_[position & (ring_.size() - 1)]; }

  void push(const PendingAnswer& answer) noexcept {
    if (size() == ring_.size()) grow();
    at(tail_++) = answer;
  }

  [[gnu::noinline, gnu::cold]] void grow() noexcept {
    std::vector<PendingAnswer> larger(ring_.size() * 2);
    for (uint64_t i = head_; i != tail_; ++i) larger[i & (larger.size() - 1)] = at(i);
    ring_.swap(larger);
  }

  std::vector<PendingAnswer> ring_;
  std::vector<uint64_t> last_acknowledge_;  ///< by endpoint: position of its newest acknowledgement
  uint64_t head_ = 0;                       ///< positions only grow
  uint64_t tail_ = 0;
};

}  // namespace railshmem

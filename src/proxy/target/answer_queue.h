// SPDX-License-Identifier: BSD-3-Clause
// Answers that a target owes, in one queue. Acknowledgements to one endpoint are folded into one; replies to one
// endpoint go together in one message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "src/plugin/rail.h"
#include "src/proxy/post/message.h"

namespace railshmem {

struct PendingAnswer {
  Endpoint to;
  MessageKind kind;
  uint8_t rail;  ///< over which the request came
  // The fields of a reply. The content of an acknowledgement or an account is read only when it is sent.
  uint32_t cell;  ///< or number of the inquiry
  uint32_t sequence;
  uint64_t value;  ///< or offset of the data
  uint32_t nbytes = 0;
  SegmentId segment{};
  bool sent = false;  ///< went in one message with an earlier reply
};

/// Grows only when peers ask faster than the rails take answers. Its size is bounded by what they may have unanswered
/// (kWindow per endpoint), so growth ends.
class AnswerQueue {
 public:
  AnswerQueue(int npes, size_t ports)
      : ports_(ports), ring_(kFirstCapacity), acknowledges_(static_cast<size_t>(npes) * ports) {}

  bool empty() const noexcept { return head_ == tail_; }
  size_t size() const noexcept { return static_cast<size_t>(tail_ - head_); }

  void acknowledge(Endpoint to, size_t rail) noexcept {
    bool& waits = acknowledges_[slot_of(to)].waits;
    if (waits) return;
    waits = true;
    push({to, MessageKind::acknowledge, static_cast<uint8_t>(rail), 0, 0, 0});
  }
  void reply(Endpoint to, size_t rail, uint32_t cell, uint32_t sequence, uint64_t value) noexcept {
    push({to, MessageKind::reply, static_cast<uint8_t>(rail), cell, sequence, value});
  }
  void data(Endpoint to, size_t rail, const GetMessage& get) noexcept {
    push({to, MessageKind::data, static_cast<uint8_t>(rail), get.header.cell, get.header.sequence, get.offset,
          get.nbytes, get.header.segment});
  }
  void pong(Endpoint to, size_t rail) noexcept { push({to, MessageKind::pong, static_cast<uint8_t>(rail), 0, 0, 0}); }
  void account(Endpoint to, size_t rail, uint32_t inquiry) noexcept {
    push({to, MessageKind::account, static_cast<uint8_t>(rail), inquiry, 0, 0});
  }

  const PendingAnswer& front() const noexcept { return ring_[head_ & (ring_.size() - 1)]; }
  void pop() noexcept {
    if (front().kind == MessageKind::acknowledge) acknowledges_[slot_of(front().to)].waits = false;
    ++head_;
    skip_sent();
  }

  /// Lists the reply at the front and, from the next kReach answers, other replies to its endpoint over its rail.
  /// Returns how many.
  size_t replies(std::span<ReplyItem, kMostReplies> items) const noexcept {
    size_t n = 0;
    for_each_reply(*this, [&](const PendingAnswer& reply) { items[n++] = {reply.cell, reply.sequence, reply.value}; });
    return n;
  }
  /// Removes the replies that replies() listed; they were sent.
  void pop_replies() noexcept {
    for_each_reply(*this, [](PendingAnswer& reply) { reply.sent = true; });
    skip_sent();
  }

  /// Puts the first answer last: its target has no room now, other targets may have.
  void rotate() noexcept {
    const PendingAnswer first = front();
    ++head_;
    push(first);
    skip_sent();
  }

 private:
  static constexpr size_t kFirstCapacity = 1024;  // a power of two: positions are masked
  static constexpr uint64_t kReach = 64;          // a look at so many answers costs less than a message
  struct Acknowledge {
    bool waits = false;
  };

  size_t slot_of(Endpoint to) const noexcept { return index_of(to, ports_); }
  template <class Self, class Use>
  static void for_each_reply(Self& self, Use&& use) noexcept {
    const Endpoint to = self.front().to;
    const uint8_t rail = self.front().rail;  // another answer's rail may be dead
    const uint64_t end = std::min(self.tail_, self.head_ + kReach);
    size_t n = 0;
    for (uint64_t i = self.head_; i != end && n < kMostReplies; ++i) {
      auto& one = self.ring_[i & (self.ring_.size() - 1)];
      if (one.kind != MessageKind::reply || one.sent || one.to.pe != to.pe || one.to.port != to.port ||
          one.rail != rail)
        continue;
      use(one);
      ++n;
    }
  }
  void skip_sent() noexcept {
    while (!empty() && front().sent) ++head_;
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

  const size_t ports_;
  std::vector<PendingAnswer> ring_;
  std::vector<Acknowledge> acknowledges_;  ///< by endpoint: whether one is in the ring
  uint64_t head_ = 0;                      ///< positions only grow
  uint64_t tail_ = 0;
};

}  // namespace railshmem

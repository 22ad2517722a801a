// SPDX-License-Identifier: BSD-3-Clause
// Turns the commands of one channel into operations of an initiator.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/base/cpu.h"
#include "src/base/log.h"
#include "src/channel/channel.h"
#include "src/proxy/deferred_ops.h"
#include "src/proxy/source/initiator.h"
#include "src/proxy/source/peer_doorbell.h"

namespace railshmem {

template <Rail R>
class ChannelDrain {
 public:
  /// `peer_doorbell` is null where targets need no doorbell message.
  ChannelDrain(Channel& channel, Initiator<R>& initiator, int npes, PeerDoorbell<R>* peer_doorbell = nullptr)
      : channel_(channel),
        initiator_(initiator),
        peer_doorbell_(peer_doorbell),
        context_(initiator.add_context()),
        npes_(npes),
        deferred_(npes) {}

  /// Issues a bounded batch and tells producers what finished. Operations that a fence holds back are put aside. When
  /// an operation finds no room, its command and all later ones stay in the ring, and the pass goes on reaping. An
  /// operation that finds none for kLateNs is put aside, too: its PE may hang, and those to other PEs go past it. True
  /// when something moved.
  bool step() noexcept {
    bool moved = false;
    if (!deferred_.empty()) [[unlikely]]
      moved = deferred_.step([this](const DeferredOp& deferred) { return issue_deferred(deferred); });
    const uint64_t begin = channel_.next();
    const uint64_t end = begin + std::min(kCommandsPerPass, channel_.room());
    stuck_ = false;
    while (channel_.next() < end) {
      const Slot* const slot = channel_.ring().head();
      if (slot == nullptr) {
        channel_.ring().publish();  // idle: nobody may be left waiting for the last few slots
        break;
      }
      const Command c = decode(*slot);
      if (!is_put(c) || c.nbytes == 0) [[unlikely]] {
        if (!pass_on_other(*slot)) break;
        continue;
      }
      uint64_t value = c.value;
      if (!pass_on(put(c, &value))) [[unlikely]]
        break;
    }
    channel_.publish();
    return moved || channel_.next() != begin;
  }

  Channel& channel() noexcept { return channel_; }
  /// Whether something waits here that is not posted yet.
  bool holds() const noexcept { return stuck_ || !deferred_.empty(); }

 private:
  static constexpr uint64_t kCommandsPerPass = 32;  // more starves reaping, and reaping frees what `again` waits for
  static constexpr uint64_t kMostFolded = 64;
  static constexpr uint64_t kLateNs = 10'000'000;

  static bool is_inline(const Command& c) noexcept {
    return c.op == CommandOp::put_inline || c.op == CommandOp::put_inline_signal;
  }
  static bool is_put(const Command& c) noexcept { return c.op == CommandOp::put || c.op == CommandOp::put_inline; }
  static bool is_empty(const Command& c) noexcept { return c.nbytes == 0 && (is_put(c) || c.op == CommandOp::get); }

  /// The operation of a put, and what all operations have. `value` holds the command's value, where data comes inside
  /// the command.
  [[gnu::always_inline]] Op put(const Command& c, uint64_t* value) noexcept {
    if (c.pe >= static_cast<uint32_t>(npes_) || c.segment >= kSegments) [[unlikely]]
      die_strange_target(c.pe, c.segment, npes_);
    Op op(OpKind::put, is_inline(c) ? Local::ours : Local::lent, &context_,
          {static_cast<int>(c.pe), static_cast<SegmentId>(c.segment), c.remote_offset},
          is_inline(c) ? value : reinterpret_cast<const void*>(c.local), c.nbytes);
    op.outcome.channel = &channel_;
    op.outcome.ticket = channel_.next();
    return op;
  }
  /// The operation of any command but a fence, and of `folded` commands behind it.
  Op operation(const Command& c, uint64_t* value, uint32_t* folded) noexcept {
    Op op = put(c, value);
    switch (c.op) {
      case CommandOp::put:
      case CommandOp::put_inline:
        break;
      case CommandOp::get:
        op.kind = OpKind::get;
        break;
      case CommandOp::get_payload:
        op.kind = OpKind::get;
        op.local = channel_.get_place(c);
        if (op.local == nullptr) die_strange_payload(c);
        break;
      case CommandOp::put_signal:
      case CommandOp::put_inline_signal:
      case CommandOp::signal:
        if (c.op == CommandOp::signal) op.nbytes = 0;
        add_signal(c, op);
        break;
      case CommandOp::put_payload:
        take_payload(c, op);
        break;
      case CommandOp::put_payload_signal:
        take_payload(c, op);
        add_signal(c, op);
        break;
      case CommandOp::amo:
        op.kind = OpKind::amo;
        op.detail.amo = {c.amo_op, static_cast<uint8_t>(c.nbytes), c.value, c.compare};
        if (c.amo_op == AmoOp::add) *folded = fold(c, op);
        break;
      default:
        die_strange_command(c.op);
    }
    return op;
  }

  static void add_signal(const Command& c, Op& op) noexcept {
    op.kind = op.nbytes > 0 ? OpKind::put_signal : OpKind::signal;
    op.detail.signal = {static_cast<SegmentId>(c.signal_segment), c.signal_offset, c.signal_value, c.signal_op};
  }
  /// The data is in slots, which are handed back when the operation has ended.
  void take_payload(const Command& c, Op& op) noexcept {
    op.local = channel_.payload(c);
    if (op.local == nullptr) die_strange_payload(c);
    op.outcome.payload = Payloads::hold_of(c.value, c.nbytes);
  }

  /// Hands one command on that is not a put: most are puts, so this is out of their way. False: the command stays in
  /// the ring.
  [[gnu::noinline]] bool pass_on_other(const Slot& slot) noexcept {
    const Command c = decode(slot);
    if (c.op == CommandOp::fence || is_empty(c)) {
      context_.fences += c.op == CommandOp::fence;
      finish_head();
      return true;
    }
    uint64_t value = c.value;
    uint32_t folded = 0;
    const Op op = operation(c, &value, &folded);
    if (!pass_on(op)) return false;
    for (; folded > 0; --folded) finish_head();  // producers see this when the command before has finished
    return true;
  }
  void finish_head() noexcept {
    const uint64_t ticket = channel_.next();
    channel_.pop();
    channel_.complete(ticket);
  }
  /// Issues the operation of the command at the ring's head, or puts the operation aside. False: the command stays in
  /// the ring.
  [[gnu::always_inline]] bool pass_on(const Op& op) noexcept {
    Post posted = Post::behind;
    if (op.kind == OpKind::get || !deferred_.waits_for(op.remote.pe)) [[likely]] {
      if (peer_doorbell_ != nullptr) [[unlikely]]
        peer_doorbell_->ring(op.remote.pe);
      posted = initiator_.issue(op, context_.fences);
    }
    if (posted == Post::ok) [[likely]] {
      channel_.pop();
      return true;
    }
    const Op other = op;  // its address is known to others; `op` may stay in registers
    return settle(other, posted);
  }

  /// Threads of a kernel that add to one word do so in a row: their additions become one. Returns how many commands
  /// behind the ring's head became part of `op`.
  uint32_t fold(const Command& c, Op& op) noexcept {
    const uint64_t most = std::min(kMostFolded, channel_.room());
    uint32_t folded = 0;
    for (; folded + 1 < most; ++folded) {
      const Slot* const slot = channel_.ring().head(folded + 1);
      if (slot == nullptr) break;
      const Command next = decode(*slot);
      if (next.op != CommandOp::amo || next.amo_op != AmoOp::add || next.pe != c.pe || next.segment != c.segment ||
          next.remote_offset != c.remote_offset || next.nbytes != c.nbytes)
        break;
      op.detail.amo.operand += next.value;  // for a word of 4 bytes the target takes the low half
    }
    return folded;
  }

  /// What becomes of an operation that was not accepted. False: its command stays in the ring.
  [[gnu::noinline]] bool settle(const Op& op, Post posted) noexcept {
    if (posted == Post::again && is_late(op.remote.pe)) posted = Post::behind;
    stuck_ = posted == Post::again || (posted == Post::behind && deferred_.full());
    if (stuck_) return false;
    if (posted == Post::behind) deferred_.add(op, context_.fences);
    channel_.pop();
    if (posted == Post::failed) notify_end(op.outcome);
    return true;
  }

  /// Whether the command at the ring's head, which was refused now, was refused for long; or one to its PE was, and
  /// still waits.
  bool is_late(int pe) noexcept {
    if (pe == late_pe_ && deferred_.waits_for(pe)) return true;
    const uint64_t now = now_ns();
    if (refused_ != channel_.next()) {
      refused_ = channel_.next();
      refused_since_ns_ = now;
    }
    if (now - refused_since_ns_ < kLateNs) return false;
    late_pe_ = pe;
    return true;
  }

  /// Issues an operation that was put aside. False: it must wait, or there is no room now.
  [[gnu::noinline]] bool issue_deferred(const DeferredOp& deferred) noexcept {
    if (peer_doorbell_ != nullptr) peer_doorbell_->ring(deferred.op.remote.pe);
    const Post posted = initiator_.issue(deferred.op, deferred.epoch);
    if (posted == Post::failed) notify_end(deferred.op.outcome);
    return posted == Post::ok || posted == Post::failed;
  }

  [[noreturn, gnu::cold]] static void die_strange_target(uint32_t pe, uint32_t segment, int npes) noexcept {
    die("a device command names PE %u and segment %u; this job has %d PEs and %d segments", pe, segment, npes,
        kSegments);
  }
  [[noreturn, gnu::cold]] static void die_strange_payload(const Command& c) noexcept {
    die("a device command names %llu bytes of payload slot %llu, which does not exist; is the kernel built against "
        "this "
        "library?",
        static_cast<unsigned long long>(c.nbytes), static_cast<unsigned long long>(c.value));
  }
  [[noreturn, gnu::cold]] static void die_strange_command(CommandOp op) noexcept {
    die("a device command has the unknown operation %d; is the kernel built against this library?",
        static_cast<int>(op));
  }

  Channel& channel_;
  Initiator<R>& initiator_;
  PeerDoorbell<R>* const peer_doorbell_;
  NetContext& context_;
  const int npes_;
  bool stuck_ = false;                                      ///< the command at the ring's head finds no room
  uint64_t refused_ = ~uint64_t{0}, refused_since_ns_ = 0;  ///< the last command that found none, and since when
  int late_pe_ = -1;                                        ///< of the last one that was refused for long
  DeferredOps deferred_;
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// Posts the commands of one channel through the proxy endpoint.
#pragma once

#include <optional>

#include "src/base/log.h"
#include "src/channel/channel.h"
#include "src/proxy/initiator.h"

namespace railshmem {

template <Rail R>
class ChannelDrain {
 public:
  ChannelDrain(Channel& channel, Initiator<R>& initiator, int npes)
      : channel_(channel), initiator_(initiator), scope_(initiator.add_scope()), npes_(npes) {}

  /// Posts a bounded batch and tells producers what finished. A refused command stays at the ring's head, so the pass
  /// goes on reaping. True when something moved.
  bool step() noexcept {
    int posted = 0;
    while (posted < kPostsPerPass && begin() && post_head()) ++posted;
    channel_.publish();
    return posted > 0;
  }

  Channel& channel() noexcept { return channel_; }

 private:
  static constexpr int kPostsPerPass = 32;  // more starves reaping, and the source of `again` is what reaping frees

  /// Loads the next command unless one is waiting for room.
  bool begin() noexcept {
    if (command_) return true;
    command_ = channel_.peek();
    if (!command_) return false;
    const Command& c = *command_;
    if (c.op != CommandOp::fence && (c.pe >= static_cast<uint32_t>(npes_) || c.segment >= kSegments))
      die("a device command names PE %u and segment %u; this job has %d PEs and %d segments", c.pe, c.segment, npes_,
          kSegments);
    transfer_ = {c.op == CommandOp::get ? OpKind::get : OpKind::put, remote(),
                 is_inline() ? reinterpret_cast<std::byte*>(&command_->value) : reinterpret_cast<std::byte*>(c.local),
                 c.op == CommandOp::signal ? 0 : c.nbytes};
    return true;
  }

  /// False when there is no room now.
  bool post_head() noexcept {
    const uint64_t ticket = channel_.next();
    const Post posted = post({nullptr, &channel_, ticket});
    if (posted == Post::again) return false;
    channel_.pop();
    if (posted == Post::failed || finished_) channel_.complete(ticket);
    command_.reset();
    return true;
  }

  Post post(const Outcome& outcome) noexcept {
    const Command& c = *command_;
    finished_ = false;
    switch (c.op) {
      case CommandOp::put:
      case CommandOp::put_inline:
        if (!may_go(OpKind::put)) return Post::again;
        [[fallthrough]];
      case CommandOp::get:
        if (c.nbytes == 0) return finish_now();
        if (stages()) [[unlikely]]
          return initiator_.staged(scope_, transfer_, nullptr, outcome);
        return initiator_.transfer(scope_, transfer_, is_inline() ? Source::copied : Source::stable, outcome);
      case CommandOp::put_signal:
      case CommandOp::put_inline_signal:
      case CommandOp::signal:
        if (!may_go(OpKind::put_signal)) return Post::again;
        return put_signal({static_cast<SegmentId>(c.signal_segment), c.signal_offset, c.signal_value, c.signal_op},
                          outcome);
      case CommandOp::amo:
        if (!may_go(OpKind::amo)) return Post::again;
        return initiator_.amo(scope_, remote(), {c.amo_op, static_cast<uint8_t>(c.nbytes), c.value, c.compare},
                              reinterpret_cast<void*>(c.local), outcome);
      case CommandOp::fence:
        ++scope_.fences;
        return finish_now();
      case CommandOp::none:
        break;
    }
    die("a device command has the unknown operation %d; is the kernel built against this library?",
        static_cast<int>(c.op));
  }

  Post put_signal(const NetSignal& signal, const Outcome& outcome) noexcept {
    if (transfer_.nbytes > 0 && stages()) [[unlikely]]
      return initiator_.staged(scope_, transfer_, &signal, outcome);
    return initiator_.put_signal(scope_, transfer_, is_inline() ? Source::copied : Source::stable, signal, outcome);
  }

  bool stages() const noexcept { return initiator_.stages(transfer_.remote, transfer_.local); }

  bool may_go(OpKind kind) noexcept {
    if (kind != OpKind::amo && transfer_.nbytes > 0 && stages()) kind = OpKind::staged_put;
    // A put_signal whose data does not travel inside the message begins with a write.
    if (kind == OpKind::put_signal && !initiator_.travels_inline(transfer_.nbytes)) kind = OpKind::put;
    return transfer_.cell != nullptr || initiator_.in_order(scope_, static_cast<int>(command_->pe), kind);
  }

  Post finish_now() noexcept {
    finished_ = true;
    return Post::ok;
  }

  bool is_inline() const noexcept {
    return command_->op == CommandOp::put_inline || command_->op == CommandOp::put_inline_signal;
  }
  Remote remote() const noexcept {
    return {static_cast<int>(command_->pe), static_cast<SegmentId>(command_->segment), command_->remote_offset};
  }

  Channel& channel_;
  Initiator<R>& initiator_;
  NetContext& scope_;
  const int npes_;
  std::optional<Command> command_;  ///< at the ring's head, perhaps half posted
  Transfer transfer_{};
  bool finished_ = false;  ///< the command needed no completion
};

}  // namespace railshmem

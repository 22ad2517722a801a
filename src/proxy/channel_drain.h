// SPDX-License-Identifier: BSD-3-Clause
// Turns the commands of one channel into posts of an initiator.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/base/log.h"
#include "src/channel/channel.h"
#include "src/proxy/parked_commands.h"
#include "src/proxy/source/initiator.h"
#include "src/proxy/source/nudger.h"

namespace railshmem {

template <Rail R>
class ChannelDrain {
 public:
  /// `nudger` is null where targets need no nudge.
  ChannelDrain(Channel& channel, Initiator<R>& initiator, int npes, Nudger<R>* nudger = nullptr)
      : channel_(channel),
        initiator_(initiator),
        nudger_(nudger),
        scope_(initiator.add_scope()),
        npes_(npes),
        parked_(npes) {}

  /// Posts a bounded batch and tells producers what finished. Commands that a fence holds back are put aside. When a
  /// command finds no room, it and all later ones wait, and the pass goes on reaping. True when something moved.
  bool step() noexcept {
    bool moved = false;
    if (!parked_.empty()) [[unlikely]]
      moved = parked_.step([this](TakenCommand& taken) { return post_parked(taken); });
    int left = kPostsPerPass;
    while ((left -= post_run(left)) > 0) {
      if (!has_head_) {
        const Slot* const slot = channel_.head();
        if (slot == nullptr) break;
        take(*slot);
      }
      if (!pass_on()) break;
      --left;
    }
    channel_.publish();
    return moved || left < kPostsPerPass;
  }

  Channel& channel() noexcept { return channel_; }
  /// Whether commands have left the ring that are not posted yet.
  bool holds() const noexcept { return has_head_ || !parked_.empty(); }

 private:
  static constexpr int kPostsPerPass = 32;  // more starves reaping, and the source of `again` is what reaping frees
  static constexpr uint32_t kMostFolded = 64;

  /// Posts puts of one write that nothing holds back as they are read, in line and without a TakenCommand; most
  /// commands are such puts. Conditions that cannot change meanwhile are checked once. Returns how many of at most
  /// `most` left the ring.
  [[gnu::always_inline]] int post_run(int most) noexcept {
    if (has_head_ || nudger_ != nullptr || !initiator_.takes_at_once()) return 0;
    most = static_cast<int>(std::min<uint64_t>(static_cast<uint64_t>(most), channel_.room()));
    for (int posted = 0; posted < most; ++posted) {
      const Slot* const slot = channel_.ring().head();
      if (slot == nullptr) return posted;
      const Post outcome = post_at_once(decode(*slot));
      if (outcome != Post::ok) [[unlikely]]
        return posted + (outcome == Post::failed);
    }
    return most;
  }
  /// Posts one command. On `again` nothing happened, and the command must go by way of a TakenCommand.
  [[gnu::always_inline]] Post post_at_once(const Command& c) noexcept {
    if ((c.op != CommandOp::put && c.op != CommandOp::put_inline) || !initiator_.goes_at_once(c.nbytes))
      return Post::again;
    expect_target(c);
    if (parked_.waits_for(c.pe) || scope_.peer(static_cast<int>(c.pe)).epoch != scope_.fences) return Post::again;
    uint64_t value = c.value;
    const bool in_command = is_inline(c);
    std::byte* const local = in_command ? reinterpret_cast<std::byte*>(&value) : reinterpret_cast<std::byte*>(c.local);
    const Source source = in_command ? Source::copied : Source::stable;
    if (initiator_.stages(remote(c), in_command ? nullptr : local)) [[unlikely]]
      return post_direct(remote(c), local, c.nbytes, source);
    return post_now({OpKind::put, remote(c), local, c.nbytes}, source);
  }
  /// Posts a put of which one end or both are GPU memory, where rails reach both ends. On `again` nothing happened.
  [[gnu::noinline]] Post post_direct(Remote to, std::byte* local, size_t nbytes, Source source) noexcept {
    Transfer put{OpKind::put, to, local, nbytes};
    put.local_is_ours = source == Source::copied;
    return initiator_.goes_direct(put, false) && !put.across_pieces ? post_now(put, source) : Post::again;
  }
  [[gnu::always_inline]] Post post_now(const Transfer& put, Source source) noexcept {
    const uint64_t ticket = channel_.next();
    const Post posted = initiator_.put_at_once(scope_, put, source, channel_, ticket);
    if (posted == Post::again) [[unlikely]]
      return posted;
    channel_.pop();
    if (posted == Post::failed) [[unlikely]]
      channel_.complete(ticket);
    return posted;
  }

  [[gnu::noinline]] void take(const Slot& slot) noexcept {
    Command& c = head_.command;
    decode(slot, c);
    if (c.op != CommandOp::fence) expect_target(c);
    head_.ticket = channel_.next();
    head_.tickets = 1;
    head_.epoch = scope_.fences;
    channel_.pop();
    if (c.op == CommandOp::amo && c.amo_op == AmoOp::add) fold();
    prepare(head_);
    has_head_ = true;
  }

  void expect_target(const Command& c) const noexcept {
    if (c.pe >= static_cast<uint32_t>(npes_) || c.segment >= kSegments) [[unlikely]]
      die("a device command names PE %u and segment %u; this job has %d PEs and %d segments", c.pe, c.segment, npes_,
          kSegments);
  }

  /// Threads of a kernel that add to one word do so in a row: their additions become one.
  void fold() noexcept {
    Command& sum = head_.command;
    for (; head_.tickets < kMostFolded; ++head_.tickets) {
      const Slot* const slot = channel_.head();
      if (slot == nullptr) return;
      const Command next = decode(*slot);
      if (next.op != CommandOp::amo || next.amo_op != AmoOp::add || next.pe != sum.pe || next.segment != sum.segment ||
          next.remote_offset != sum.remote_offset || next.nbytes != sum.nbytes)
        return;
      sum.value += next.value;  // for a word of 4 bytes the target takes the low half
      channel_.pop();
    }
  }

  /// Posts or parks the head command. False when there is no room now.
  bool pass_on() noexcept {
    const Command& c = head_.command;
    if (c.op == CommandOp::fence) {
      ++scope_.fences;
      channel_.complete(head_.ticket);
      has_head_ = false;
      return true;
    }
    const bool waits = c.op != CommandOp::get && (parked_.waits_for(c.pe) || !in_order(head_));
    if (waits && head_.transfer.cell == nullptr) {
      if (parked_.full()) return false;
      TakenCommand& parked = parked_.add(c.pe);
      parked = head_;
      prepare(parked);
      has_head_ = false;
      return true;
    }
    has_head_ = !post(head_);
    return !has_head_;
  }

  bool post_parked(TakenCommand& taken) noexcept {
    return (taken.transfer.cell != nullptr || in_order(taken)) && post(taken);
  }

  /// Posts one taken command. False: no room now.
  bool post(TakenCommand& taken) noexcept {
    const Outcome outcome{nullptr, &channel_, taken.ticket, taken.tickets};
    const Post posted = post(taken, outcome);
    if (posted == Post::failed) finish_commands(outcome);
    return posted != Post::again;
  }

  Post post(TakenCommand& taken, const Outcome& outcome) noexcept {
    const Command& c = taken.command;
    if (nudger_ != nullptr) [[unlikely]]
      nudger_->nudge(static_cast<int>(c.pe));
    const Source source = is_inline(c) ? Source::copied : Source::stable;
    switch (c.op) {
      case CommandOp::put:
      case CommandOp::put_inline:
      case CommandOp::get:
        if (c.nbytes == 0) {
          finish_commands(outcome);
          return Post::ok;
        }
        if (stages(taken)) [[unlikely]]
          return initiator_.staged(scope_, taken.transfer, nullptr, outcome);
        return initiator_.transfer(scope_, taken.transfer, source, outcome);
      case CommandOp::put_signal:
      case CommandOp::put_inline_signal:
      case CommandOp::signal:
        return put_signal(taken,
                          {static_cast<SegmentId>(c.signal_segment), c.signal_offset, c.signal_value, c.signal_op},
                          source, outcome);
      case CommandOp::amo:
        return initiator_.amo(scope_, remote(c), {c.amo_op, static_cast<uint8_t>(c.nbytes), c.value, c.compare},
                              reinterpret_cast<void*>(c.local), outcome);
      case CommandOp::fence:
      case CommandOp::none:
        break;
    }
    die("a device command has the unknown operation %d; is the kernel built against this library?",
        static_cast<int>(c.op));
  }

  Post put_signal(TakenCommand& taken, const NetSignal& signal, Source source, const Outcome& outcome) noexcept {
    if (taken.transfer.nbytes > 0 && stages(taken)) [[unlikely]]
      return initiator_.staged(scope_, taken.transfer, &signal, outcome);
    return initiator_.put_signal(scope_, taken.transfer, source, signal, outcome);
  }
  bool stages(const TakenCommand& taken) const noexcept {
    const Transfer& t = taken.transfer;
    return !t.is_direct && initiator_.stages(t.remote, t.local_is_ours ? nullptr : t.local);
  }

  /// Gets are not ordered by fence.
  bool in_order(const TakenCommand& taken) noexcept {
    const Command& c = taken.command;
    const bool passed = scope_.peer(static_cast<int>(c.pe)).epoch == taken.epoch;
    return passed || c.op == CommandOp::get || may_pass(taken);
  }
  [[gnu::noinline]] bool may_pass(const TakenCommand& taken) noexcept {
    const Command& c = taken.command;
    OpKind kind = OpKind::put;
    if (c.op == CommandOp::amo)
      kind = OpKind::amo;
    else if (taken.transfer.nbytes > 0 && stages(taken)) [[unlikely]]
      kind = OpKind::staged_put;
    // A put_signal whose data does not travel inside the message begins with a write.
    else if (carries_signal(c) && !taken.transfer.is_direct && initiator_.travels_inline(taken.transfer.nbytes))
      kind = OpKind::put_signal;
    return initiator_.in_order(scope_, static_cast<int>(c.pe), kind, taken.epoch);
  }

  void prepare(TakenCommand& taken) const noexcept {
    Command& c = taken.command;
    taken.transfer = {c.op == CommandOp::get ? OpKind::get : OpKind::put, remote(c),
                      is_inline(c) ? reinterpret_cast<std::byte*>(&c.value) : reinterpret_cast<std::byte*>(c.local),
                      c.op == CommandOp::signal ? 0 : c.nbytes};
    taken.transfer.local_is_ours = is_inline(c);
    const bool moves_data = c.op != CommandOp::amo && c.op != CommandOp::fence && taken.transfer.nbytes > 0;
    if (moves_data && stages(taken)) [[unlikely]]
      initiator_.goes_direct(taken.transfer, carries_signal(c));
  }
  static bool is_inline(const Command& c) noexcept {
    return c.op == CommandOp::put_inline || c.op == CommandOp::put_inline_signal;
  }
  static bool carries_signal(const Command& c) noexcept {
    return c.op == CommandOp::put_signal || c.op == CommandOp::put_inline_signal || c.op == CommandOp::signal;
  }
  static Remote remote(const Command& c) noexcept {
    return {static_cast<int>(c.pe), static_cast<SegmentId>(c.segment), c.remote_offset};
  }

  Channel& channel_;
  Initiator<R>& initiator_;
  Nudger<R>* const nudger_;
  NetContext& scope_;
  const int npes_;
  TakenCommand head_;  ///< the newest one taken, if has_head_
  bool has_head_ = false;
  ParkedCommands parked_;
};

}  // namespace railshmem

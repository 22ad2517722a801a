// SPDX-License-Identifier: BSD-3-Clause
// Commands one way, finished tickets the other: everything a proxy thread and its producers share.
#pragma once

#include <cstdint>
#include <optional>

#include "include/shmem/detail/channel.h"
#include "src/base/align.h"
#include "src/channel/memory.h"
#include "src/channel/payloads.h"
#include "src/channel/ring.h"
#include "src/channel/watermark.h"

namespace railshmem {

/// The proxy's side, owned by one thread; only view(), fail() and status() may be called by others.
///
/// A pass of the proxy:
///   while (auto command = channel.peek()) {
///     if (!post(*command, channel.next())) break;  // no room below: the command stays, the pass goes on reaping
///     channel.pop();
///   }
///   for each completion: channel.complete(ticket);
///   channel.publish();
class Channel {
 public:
  explicit Channel(ChannelMemory memory);
  /// A ring in plain host memory.
  explicit Channel(uint32_t log2_slots) : Channel(host_channel_memory(log2_slots)) {}
  Channel(const Channel&) = delete;  // views point into it

  Ring& ring() noexcept { return ring_; }

  /// The next command; nothing if none exists or when the watermark's window is full of unfinished ones.
  std::optional<Command> peek() noexcept;
  /// Decodes it; false: nothing, and `command` is as it was.
  bool peek(Command& command) noexcept {
    const Slot* const slot = head();
    if (slot == nullptr) return false;
    decode(*slot, command);
    return true;
  }
  /// Its slot until pop(); null: nothing.
  const Slot* head() noexcept {
    if (room() == 0) return nullptr;
    if (const Slot* const slot = ring_.head()) [[likely]]
      return slot;
    ring_.publish();  // idle: nobody may be left waiting for the last few slots
    return nullptr;
  }
  /// As many commands may be popped before one has to finish.
  uint64_t room() const noexcept { return finished_.window() - in_flight(); }
  void pop() noexcept { ring_.pop(); }
  /// Ticket of the peeked command.
  uint64_t next() const noexcept { return ring_.next(); }

  /// `ticket` is finished: a put at its target, a get or a fetched value here. Any order, once each, popped before.
  void complete(uint64_t ticket) noexcept { finished_.complete(ticket); }
  /// The data that a put_payload or put_payload_signal names; null where it names none.
  std::byte* payload(const Command& command) const noexcept {
    return payloads_ ? payloads_->data(command.value, command.local, command.nbytes) : nullptr;
  }
  /// Where the data of a get_payload goes; null where it names no place.
  std::byte* get_place(const Command& command) const noexcept {
    return payloads_ ? payloads_->get_place(command.value, command.local, command.nbytes) : nullptr;
  }
  /// The command of this Payloads::hold_of() needs its data no more. publish() tells producers.
  void free_payload(uint32_t hold) noexcept {
    payloads_freed_ = true;
    payloads_->free(hold);
  }

  /// Shows producers the finished prefix. Once per pass: more often only moves the cache line more.
  void publish() noexcept;
  /// Popped and not finished, or finished behind an unfinished one.
  uint64_t in_flight() const noexcept { return ring_.next() - finished_.prefix(); }

  /// Ends every wait on this channel, now and later, with `why`; the first caller's reason stays.
  void fail(ChannelStatus why) noexcept;
  ChannelStatus status() const noexcept;

  /// Announces that this thread is about to sleep on `eventfd`. False: a command is there already, do not sleep.
  /// The fd must stay open as long as producers may push. Kernels cannot ring it: while a view is in use on a GPU,
  /// sleep only for microseconds at a time.
  [[nodiscard]] bool arm(int eventfd) noexcept;
  /// After waking, for whatever reason.
  void disarm() noexcept;

  ChannelView view() noexcept;

 private:
  ChannelMemory memory_;
  Ring ring_;
  Watermark finished_;
  uint64_t published_ = 0;
  bool payloads_freed_ = false;  ///< since the last publish()
  std::optional<Payloads> payloads_;
  alignas(kCacheLine) uint32_t doorbell_ = 0;  // its own line: every host producer writes it
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// The consumer's half of a command ring: one thread, no writes into slots.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "include/shmem/detail/portable.h"
#include "include/shmem/detail/ring.h"

namespace railshmem {

class Ring {
 public:
  /// The memory must outlive the ring.
  Ring(const Slot* slots, uint64_t* consumed, uint32_t log2_slots) noexcept
      : slots_(slots), consumed_(consumed), log2_slots_(log2_slots) {}
  Ring(const Ring&) = delete;  // two consumers would take every command twice

  /// The command at the head, or nothing when its slot is not yet written in full.
  std::optional<Command> peek() const noexcept;
  /// The same without a copy; false: nothing, and `command` is as it was.
  bool peek(Command& command) const noexcept;
  /// Frees the slot of the peeked command.
  void pop() noexcept;
  /// Ticket of the command at the head = commands popped so far.
  uint64_t next() const noexcept { return next_; }

  /// Tells producers of every freed slot. pop() does it often enough to keep a busy ring going; call it when idle.
  void publish() noexcept;

 private:
  const Slot* slots_;
  uint64_t* consumed_;
  uint32_t log2_slots_;
  uint64_t next_ = 0;
  uint64_t published_ = 0;
};

// Why no torn command is ever seen. A producer writes each word's lo before (or together with) its hi: a host thread
// stores lo, then hi with release; a GPU thread stores all 16 bytes at once. Each hi is read with acquire and before
// its lo, so a hi of this lap comes with the lo of this lap. All four hi must be of this lap; words may arrive in any
// order and a slot with an old one is "not yet written". Nothing newer can appear in between: the slot is written
// again only after publish() handed it back.
inline bool Ring::peek(Command& command) const noexcept {
  const Slot& slot = slots_[next_ & ((uint64_t{1} << log2_slots_) - 1)];
  const uint64_t lap = lap_bit(next_, log2_slots_);
  Slot copy;
  for (int i = 0; i < kWordsPerSlot; ++i) {
    // acquire: pairs with the release of hi in store_word(); without it lo, or the payload the command points to,
    // could be last lap's.
    copy.word[i].hi = portable::load_acquire(&slot.word[i].hi);
    if (((copy.word[i].hi ^ lap) & kLapBit) != 0) return false;
    copy.word[i].lo = portable::load_relaxed(&slot.word[i].lo);  // ordered by the acquire above
  }
  command = decode(copy);
  return true;
}

inline std::optional<Command> Ring::peek() const noexcept {
  std::optional<Command> command(std::in_place);
  if (!peek(*command)) command.reset();
  return command;
}

inline void Ring::pop() noexcept {
  ++next_;
  // an eighth of the ring: producers run far ahead of the counter, and its line (or PCIe) is rarely touched
  if (next_ - published_ >= std::max<uint64_t>(1, (uint64_t{1} << log2_slots_) / 8)) publish();
}

}  // namespace railshmem

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
      : slots_(slots),
        consumed_(consumed),
        mask_((uint64_t{1} << log2_slots) - 1),
        lap_shift_(63 - log2_slots),
        publish_every_(std::max<uint64_t>(1, (uint64_t{1} << log2_slots) / 8)) {}
  Ring(const Ring&) = delete;  // two consumers would take every command twice

  /// The command at the head, or nothing when its slot is not yet written in full.
  std::optional<Command> peek() const noexcept;
  /// Its slot, written in full, until pop(); null: nothing. `ahead`: the slot so many commands behind the head.
  const Slot* head(uint64_t ahead = 0) const noexcept;
  /// Decodes it; false: nothing, and `command` is as it was.
  bool peek(Command& command) const noexcept;
  /// Frees the slot of the peeked command.
  void pop() noexcept;
  /// Ticket of the command at the head = commands popped so far.
  uint64_t next() const noexcept { return next_; }

  /// Tells producers of every freed slot. pop() does it often enough to keep a busy ring going; call it when idle.
  void publish() noexcept;

 private:
  /// Slots ahead of the head that pop() fetches: each takes longer to arrive, from the last level cache behind the
  /// GPU's write, than its command takes to post.
  static constexpr uint64_t kFetchAhead = 8;

  const Slot& slot(uint64_t ticket) const noexcept { return slots_[ticket & mask_]; }

  const Slot* slots_;
  uint64_t* consumed_;
  uint64_t mask_;       ///< slots less one
  uint32_t lap_shift_;  ///< brings the bit of a ticket that tells laps apart to where slots have their lap bit
  uint64_t publish_every_;
  uint64_t next_ = 0;
  uint64_t published_ = 0;
};

// Why no torn command is ever seen. A producer writes each word's lo before (or together with) its hi: a host thread
// stores lo, then hi with release; a GPU thread stores all 16 bytes at once. Each hi is read with acquire and before
// its lo, so a hi of this lap comes with the lo of this lap. All four hi must be of this lap; words may arrive in any
// order and a slot with an old one is "not yet written". Nothing newer can appear in between: the slot is written
// again only after publish() handed it back.
inline const Slot* Ring::head(uint64_t ahead) const noexcept {
  const uint64_t ticket = next_ + ahead;
  const Slot& slot = this->slot(ticket);
  const uint64_t lap = ~(ticket << lap_shift_);  // lap_bit() of the ticket, with other bits that do not count
  // acquire: pairs with the release of hi in store_pair(); without it lo, or the payload the command points to, could
  // be last lap's. The first word alone says "nothing there" while the ring is idle.
  if (((portable::load_acquire(&slot.word[0].hi) ^ lap) & kLapBit) != 0) return nullptr;
  const uint64_t mixed = (portable::load_acquire(&slot.word[1].hi) ^ lap) |
                         (portable::load_acquire(&slot.word[2].hi) ^ lap) |
                         (portable::load_acquire(&slot.word[3].hi) ^ lap);
  return (mixed & kLapBit) == 0 ? &slot : nullptr;
}

inline bool Ring::peek(Command& command) const noexcept {
  const Slot* const slot = head();
  if (slot == nullptr) return false;
  decode(*slot, command);  // plain loads: ordered by the acquires in head(), and written again only after publish()
  return true;
}

inline std::optional<Command> Ring::peek() const noexcept {
  std::optional<Command> command(std::in_place);
  if (!peek(*command)) command.reset();
  return command;
}

inline void Ring::pop() noexcept {
  ++next_;
  __builtin_prefetch(&slot(next_ + kFetchAhead));
  // an eighth of the ring: producers run far ahead of the counter, and its line (or PCIe) is rarely touched
  if (next_ - published_ >= publish_every_) [[unlikely]]
    publish();
}

}  // namespace railshmem

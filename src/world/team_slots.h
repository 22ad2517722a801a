// SPDX-License-Identifier: BSD-3-Clause
// Which team areas of this PE are free, and which of its threads may give them away.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

namespace railshmem {

/// Two threads that split two teams must not choose the same slot, and neither may hold a lock while it talks to other
/// PEs, whose threads may come in the other order. So one of them has the slots, the other offers none and votes
/// again. The lowest turn goes first, on every PE alike; otherwise two PEs could favour different teams for ever.
/// Before that the members meet: a thread that had the slots while it waits for a PE would keep that PE from coming,
/// where it makes another team first.
class TeamSlots {
 public:
  /// What a team is made from, the same on all its members; two that a PE takes part in at once differ.
  using Turn = uint64_t;
  /// By the parent's slot.
  static constexpr Turn turn_of_split(int parent) noexcept { return static_cast<Turn>(parent); }
  /// By the meeting's id. Behind all splits.
  static constexpr Turn turn_of_meeting(uint64_t id) noexcept { return uint64_t{1} << 63 | id; }

  TeamSlots(int slots, int first_free);
  TeamSlots(const TeamSlots&) = delete;

  /// Free slots as bits, 64 a word; no bits beyond the last slot.
  uint64_t free_word(size_t word) const noexcept;
  void take(int slot) noexcept;
  /// `number` is the last that the team in this slot used: new teams start above it, so that a flag which arrives late
  /// means nothing to them.
  void give(int slot, uint64_t number) noexcept;
  uint64_t highest_number() const noexcept;
  size_t words() const noexcept { return free_.size(); }

  /// The slots in the hands of a thread, if it is its turn.
  class Claim {
   public:
    Claim(TeamSlots& slots, Turn turn);
    ~Claim();
    Claim(const Claim&) = delete;
    bool owns() const noexcept { return owns_; }

   private:
    TeamSlots& slots_;
    bool owns_;
  };
  /// Announces that a thread makes a team, for as long as it looks for a slot.
  class Maker {
   public:
    Maker(TeamSlots& slots, Turn turn);
    ~Maker();
    Maker(const Maker&) = delete;

   private:
    TeamSlots& slots_;
    const Turn turn_;
  };

 private:
  mutable std::mutex mutex_;
  std::vector<uint64_t> free_;
  std::set<Turn> makers_;
  bool owned_ = false;
  uint64_t highest_number_ = 0;
};

}  // namespace railshmem

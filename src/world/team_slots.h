// SPDX-License-Identifier: BSD-3-Clause
// Which team areas of this PE are free, and which of its threads may give them away.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

namespace railshmem {

/// Two threads that split two teams must not choose one slot. Neither may hold a lock while it talks to other PEs,
/// whose threads may take the two teams in another order. So one thread has the slots; the other thread offers none and
/// votes again. All PEs let the lowest turn go first; otherwise two PEs could favour different teams forever. The
/// members meet before a thread claims slots: a thread that waits for a PE and has the slots could keep that PE from
/// coming, because the PE may make another team first.
class TeamSlots {
 public:
  /// Names what a team is made from. All members of a team have one turn; two teams that a PE makes at once have two.
  using Turn = uint64_t;
  /// The turn of a split, by the parent's slot.
  static constexpr Turn turn_of_split(int parent) noexcept { return static_cast<Turn>(parent); }
  /// The turn of a meeting, by its id. It comes behind all splits.
  static constexpr Turn turn_of_meeting(uint64_t id) noexcept { return uint64_t{1} << 63 | id; }

  TeamSlots(int slots, int first_free);
  TeamSlots(const TeamSlots&) = delete;

  /// Free slots as bits, 64 a word; no bits beyond the last slot.
  uint64_t free_word(size_t word) const noexcept;
  void take(int slot) noexcept;
  /// Frees a slot. `number` is the last number that its team used: new teams start above it, so that a flag that
  /// arrives late means nothing to them.
  void give(int slot, uint64_t number) noexcept;
  uint64_t highest_number() const noexcept;
  size_t words() const noexcept { return free_.size(); }

  /// Gives the slots to a thread whose turn it is, while the claim lives.
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

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
/// again. The team with the lowest slot goes first, on every PE alike; otherwise two PEs could favour different teams
/// for ever.
class TeamSlots {
 public:
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

  /// The slots in the hands of a thread that splits `parent`, if it is its turn.
  class Claim {
   public:
    Claim(TeamSlots& slots, int parent);
    ~Claim();
    Claim(const Claim&) = delete;
    bool owns() const noexcept { return owns_; }

   private:
    TeamSlots& slots_;
    bool owns_;
  };
  /// Announces that a thread splits `parent`, for as long as it does.
  class Splitter {
   public:
    Splitter(TeamSlots& slots, int parent);
    ~Splitter();
    Splitter(const Splitter&) = delete;

   private:
    TeamSlots& slots_;
    const int parent_;
  };

 private:
  mutable std::mutex mutex_;
  std::vector<uint64_t> free_;
  std::set<int> splitting_;  ///< parents
  bool owned_ = false;
  uint64_t highest_number_ = 0;
};

}  // namespace railshmem

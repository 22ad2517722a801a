// SPDX-License-Identifier: BSD-3-Clause
// How PEs that are to be a team meet when they have no team in common to call together: at a desk of one of them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/rma/pe_state.h"

namespace railshmem {

/// What a member lets the others know in a round.
struct TeamNote {
  static constexpr size_t kSlotWords = 5;
  int64_t pe;
  uint64_t free_slots[kSlotWords];
  uint64_t highest_number;
  uint64_t vote;  ///< bits that all must have
};
static_assert(sizeof(TeamNote) == 64);

/// Every PE has a few desks, in symmetric memory: an id names one of them, and the meeting. A desk is used again for
/// the id kDesks later, by when the call of a member of the meeting before must have returned.
class TeamDesks {
 public:
  static constexpr uint64_t kDesks = 8;

  /// The desks lie `offset` bytes into every heap and are zero.
  TeamDesks(PeState& state, size_t offset) noexcept : state_(state), offset_(offset) {}
  static size_t nbytes(int npes) noexcept;
  size_t offset() const noexcept { return offset_; }

  /// The name of a meeting at a desk of this PE. Any thread; never 0.
  uint64_t open() noexcept;
  /// Whether `id` may be the name of one.
  bool is_id(uint64_t id) const noexcept {
    return id >= kFirst && (id & (kFirst - 1)) < static_cast<uint64_t>(state_.npes);  // a low half may be no int
  }

 private:
  friend class TeamMeeting;
  static constexpr int kPeBits = 32;
  static constexpr uint64_t kFirst = uint64_t{1} << kPeBits;
  static int host_of(uint64_t id) noexcept { return static_cast<int>(id & (kFirst - 1)); }

  PeState& state_;
  const size_t offset_;
  std::atomic<uint64_t> opened_{0};
};

/// One member's part of a meeting of `size`.
class TeamMeeting {
 public:
  TeamMeeting(TeamDesks& desks, Context& context, const char* function, uint64_t id, int size, int index) noexcept;

  /// Returns with the notes of all when every member has left one. Empty where the desk serves another
  /// meeting already. Then another member's call has returned, and only after this round: no member gets further
  /// without this PE.
  std::vector<TeamNote> exchange(const TeamNote& mine);

 private:
  uint64_t* arrivals() const noexcept;
  uint64_t count() const noexcept;
  TeamNote* note(uint64_t set, int index) const noexcept;

  PeState& state_;
  Context& context_;
  const char* const function_;
  const int host_;
  const uint64_t number_;
  const size_t offset_;
  const int size_;
  const int index_;
  uint64_t round_ = 0;
};

}  // namespace railshmem

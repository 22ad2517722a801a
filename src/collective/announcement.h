// SPDX-License-Identifier: BSD-3-Clause
// What the members of a collect tell each other first: how much they give, and all of it when it is short.
#pragma once

#include "src/team/team.h"

namespace railshmem {

/// In the payload of an exchange line.
struct Announcement {
  static constexpr size_t kShort = 40;  ///< bytes that travel along

  uint64_t nbytes;
  uint64_t place;  ///< bytes in dest before this member's; each receiver adds it up for itself
  std::byte data[kShort];

  bool is_short() const noexcept { return nbytes <= kShort; }
};
static_assert(sizeof(Announcement) == sizeof ExchangeLine::payload);

/// What all members announced, in this PE's own lines: valid until the second full exchange from here.
class Announcements {
 public:
  /// A full exchange. `source` may be null when nbytes is 0.
  Announcements(Team& team, const char* function, const void* source, size_t nbytes) noexcept;

  const Announcement& of(int rank) const noexcept {
    return *reinterpret_cast<const Announcement*>(team_.mine(team_.area.exchange(number_, rank)) +
                                                  offsetof(ExchangeLine, payload));
  }
  size_t total() const noexcept { return total_; }
  bool all_short() const noexcept { return all_short_; }

 private:
  const Team& team_;
  uint64_t number_;
  size_t total_ = 0;
  bool all_short_ = true;
};

}  // namespace railshmem

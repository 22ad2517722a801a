// SPDX-License-Identifier: BSD-3-Clause
// Streams of a handle beside the program's: two that copy, one that adds up, and one that multiplies.
#pragma once

#include <array>

#include "overlap/driver.h"
#include "overlap/planner.h"

namespace railshmem::overlap {

class Lanes {
 public:
  // One copy engine fills a link; with a second one a peer that is late does not hold up the next.
  static constexpr size_t kCopying = 2;

  Lanes();
  ~Lanes();
  Lanes(const Lanes&) = delete;

  Stream copying(size_t i) const noexcept { return streams_[i % kCopying]; }
  Stream adding() const noexcept { return streams_[kCopying]; }
  /// Takes every other product where products of one call take turns.
  Stream multiplying() const noexcept { return streams_[kCopying + 1]; }
  /// What `later` is given from now on waits for what `earlier` has been given so far.
  void follow(Stream later, Stream earlier) const {
    mark(earlier);
    follow_mark(later);
  }
  /// The two halves of follow(), with other work given between them. follow() uses mark 0, a piece p has mark 1 + p.
  void mark(Stream earlier, size_t which = 0) const;
  void follow_mark(Stream later, size_t which = 0) const;

 private:
  std::array<Stream, kCopying + 2> streams_{};
  std::array<Event, 1 + kMostPieces> marks_{};
};

}  // namespace railshmem::overlap

// SPDX-License-Identifier: BSD-3-Clause
// Symmetric memory of the library for collectives between nodes, beside the teams' areas: for data whose place other
// PEs do not reach, or may not write to yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace railshmem {

/// Lots of one segment, all of one size, at equal offsets on all PEs. A team takes a lot when the team first needs one,
/// one that is free on all members, and keeps it. Any number of threads.
class Lots {
 public:
  static constexpr size_t kMost = 64;

  /// Makes sure that a lot is backed by memory. Throws Error.
  using Back = std::function<void(std::byte* lot)>;

  /// `count` lots, kMost at most, of nbytes from `first` on, which is in the segment's header. `back` may be empty.
  Lots(std::byte* first, size_t nbytes, size_t count, Back back = {})
      : first_(first), nbytes_(nbytes), back_(std::move(back)), taken_(count) {}

  size_t count() const noexcept { return taken_.size(); }
  /// The free lots as bits, lot 0 the lowest.
  uint64_t free() const noexcept;
  /// Null where the lot is taken, or where there is no memory for it.
  std::byte* take(size_t number) noexcept;
  void give_back(const std::byte* lot) noexcept;
  /// Bytes of a lot; equal on all PEs.
  size_t nbytes() const noexcept { return nbytes_; }

 private:
  std::byte* const first_;
  const size_t nbytes_;
  const Back back_;
  mutable std::mutex mutex_;
  std::vector<bool> taken_;
};

/// The lot of one team.
struct TeamLot {
  bool asked = false;         ///< the members have voted
  std::byte* mine = nullptr;  ///< null where they found none
};

}  // namespace railshmem

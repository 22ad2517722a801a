// SPDX-License-Identifier: BSD-3-Clause
// Symmetric memory of the library for collectives between nodes, beside the teams' areas: for data whose place other
// PEs do not reach, or may not write to yet.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace railshmem {

/// Lots of one segment, all of one size, at equal offsets on all PEs. A team takes a lot when the team first needs one,
/// and keeps the lot. The lot's number comes from the team's slot, so all members ask for one lot; on some of them
/// another team may have that lot. Any number of threads.
class Lots {
 public:
  /// Makes sure that a lot is backed by memory. Throws Error.
  using Back = std::function<void(std::byte* lot)>;

  /// `count` lots of nbytes from `first` on, which lies in the segment's header. `back` may be empty.
  Lots(std::byte* first, size_t nbytes, size_t count, Back back = {})
      : first_(first), nbytes_(nbytes), back_(std::move(back)), taken_(count) {}

  /// Lot `number`, modulo their count. Null where it is taken, or where there is no memory for it.
  std::byte* take(size_t number) noexcept;
  void give_back(const std::byte* lot) noexcept;
  /// Bytes of a lot; equal on all PEs.
  size_t nbytes() const noexcept { return nbytes_; }

 private:
  std::byte* const first_;
  const size_t nbytes_;
  const Back back_;
  std::mutex mutex_;
  std::vector<bool> taken_;
};

/// The lot of one team.
struct TeamLot {
  bool asked = false;         ///< the members have voted
  std::byte* mine = nullptr;  ///< taken, on this PE
  bool usable = false;        ///< on all members
};

}  // namespace railshmem

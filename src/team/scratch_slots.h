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

/// Scratch slots of one segment, all of one size, at equal offsets on all PEs. A team takes a scratch slot when the
/// team first needs one, one that is free on all members, and keeps it. Any number of threads.
class ScratchSlots {
 public:
  static constexpr size_t kMost = 64;

  /// Makes sure that a scratch slot is backed by memory. Throws Error.
  using Back = std::function<void(std::byte* slot)>;

  /// `count` scratch slots, kMost at most, of nbytes from `first` on, which is in the segment's header. `back` may be
  /// empty.
  ScratchSlots(std::byte* first, size_t nbytes, size_t count, Back back = {})
      : first_(first), nbytes_(nbytes), back_(std::move(back)), taken_(count) {}

  size_t count() const noexcept { return taken_.size(); }
  /// The free scratch slots as bits, slot 0 the lowest.
  uint64_t free() const noexcept;
  /// Null where the scratch slot is taken, or where there is no memory for it.
  std::byte* take(size_t number) noexcept;
  void give_back(const std::byte* slot) noexcept;
  /// Bytes of a scratch slot; equal on all PEs.
  size_t nbytes() const noexcept { return nbytes_; }

 private:
  std::byte* const first_;
  const size_t nbytes_;
  const Back back_;
  mutable std::mutex mutex_;
  std::vector<bool> taken_;
};

/// The scratch slot of one team.
struct TeamScratchSlot {
  bool asked = false;         ///< the members have voted
  std::byte* mine = nullptr;  ///< null where they found none
};

}  // namespace railshmem

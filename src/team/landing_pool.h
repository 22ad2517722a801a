// SPDX-License-Identifier: BSD-3-Clause
// Symmetric memory of the library in which data of other nodes lands before it is used.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace railshmem {

/// Lots of one segment of this PE, all of one size. A team takes one for as long as it lives, and tells the others
/// where its lot lies. Any number of threads.
class LandingPool {
 public:
  /// Makes sure that a lot is backed by memory. Throws Error.
  using Back = std::function<void(std::byte* lot)>;

  /// `lots` lots of nbytes from `first` on, which lies in the segment's header. `back` may be empty.
  LandingPool(std::byte* first, size_t nbytes, size_t lots, Back back = {}) : nbytes_(nbytes), back_(std::move(back)) {
    for (size_t i = lots; i-- > 0;) free_.push_back(first + i * nbytes);
  }

  /// Null where all are taken, or where there is no memory.
  std::byte* take() noexcept;
  void give_back(std::byte* lot) noexcept {
    const std::lock_guard lock(mutex_);
    free_.push_back(lot);  // has had room for it
  }
  /// Of a lot; equal on all PEs.
  size_t nbytes() const noexcept { return nbytes_; }

 private:
  const size_t nbytes_;
  const Back back_;
  std::mutex mutex_;
  std::vector<std::byte*> free_;
};

/// The lot of one team, and where the other members' lots lie.
struct Landing {
  bool asked = false;  ///< the members have told each other
  std::byte* mine = nullptr;
  std::vector<std::byte*> of;  ///< by rank, as symmetric addresses of this PE; empty where some member has no lot
};

}  // namespace railshmem

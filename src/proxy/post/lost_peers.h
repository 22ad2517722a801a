// SPDX-License-Identifier: BSD-3-Clause
// Peers that have died while this PE goes on (SHMEM_SURVIVE).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/base/witness.h"

namespace railshmem {

/// Of a PE. One thread adds peers, the ports look.
class LostPeers {
 public:
  explicit LostPeers(int npes) : lost_(static_cast<size_t>(npes)) {}

  void add(int pe) noexcept {
    lost_[static_cast<size_t>(pe)].store(true, std::memory_order_relaxed);
    // release: pairs with count(); who sees the number sees the peer.
    count_.fetch_add(1, std::memory_order_release);
  }
  uint32_t count() const noexcept { return count_.load(std::memory_order_acquire); }
  bool has(int pe) const noexcept { return lost_[static_cast<size_t>(pe)].load(std::memory_order_relaxed); }

 private:
  std::vector<std::atomic<bool>> lost_;
  std::atomic<uint32_t> count_{0};
};

/// What a port knows of lost peers. What is posted to one reaches no rail, and ends at the next poll. One thread at a
/// time.
class GonePeers {
 public:
  bool any() const noexcept { return any_; }
  bool has(int pe) const noexcept { return any_ && (pe == kAnyPe || gone_[static_cast<size_t>(pe)]); }
  void add(int pe, int npes, size_t cells) {
    gone_.resize(static_cast<size_t>(npes));
    haunted_.resize(cells);
    swallowed_.reserve(cells);
    gone_[static_cast<size_t>(pe)] = true;
    any_ = true;
  }

  /// The cell was posted to a lost peer.
  void swallow(uint32_t cell) noexcept { swallowed_.push_back(cell); }
  std::vector<uint32_t> take_swallowed() noexcept { return std::exchange(swallowed_, {}); }

  /// Cells whose last event the provider may still tell, though nobody waits for it: they are not used again before.
  void haunt(uint32_t cell) noexcept { haunted_[cell] = true; }
  bool is_haunted(uint32_t cell) const noexcept { return any_ && haunted_[cell]; }
  void exorcise(uint32_t cell) noexcept { haunted_[cell] = false; }

 private:
  bool any_ = false;
  std::vector<bool> gone_;
  std::vector<bool> haunted_;
  std::vector<uint32_t> swallowed_;
};

}  // namespace railshmem

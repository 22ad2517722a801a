// SPDX-License-Identifier: BSD-3-Clause
// An allocation of this PE that peers of the node map, and where they map it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "src/cuda/shareable_memory.h"

namespace railshmem {

struct SharedAllocation {
  /// `slots`: PEs of the node.
  SharedAllocation(cuda::ShareableMemory shareable, uint64_t own_number, size_t slots)
      : memory(std::move(shareable)), number(own_number), at(slots) {}
  SharedAllocation(const SharedAllocation&) = delete;

  // No address is as low as these.
  static constexpr uint64_t kUnknown = 0;  ///< the PE was not asked yet
  static constexpr uint64_t kAsked = 1;    ///< the PE was asked, and did not answer
  static constexpr uint64_t kRefused = 2;  ///< the PE cannot map it

  const cuda::ShareableMemory memory;
  const uint64_t number;  ///< among all of this PE's; never used again
  std::mutex exchange;    ///< one thread at a time asks peers about this allocation
  /// The first byte as an address of the PE of each slot. Written under `exchange`.
  std::vector<std::atomic<uint64_t>> at;
  uint64_t ask_again_ns = 0;  ///< with `exchange`: now_ns() before which nobody asks, since a peer said "later"
  // The rest with the lock of SharedAllocations.
  int holders = 0;            ///< registrations, graphs, and calls that look it up
  uint64_t last_capture = 0;  ///< the capture whose graph was made a holder last

  bool mapped_by_peers() const noexcept {
    for (const std::atomic<uint64_t>& address : at)
      if (address.load(std::memory_order_relaxed) > kRefused)
        return true;  // relaxed: nobody asks any more, or it is a hint
    return false;
  }
};

}  // namespace railshmem

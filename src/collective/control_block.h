// SPDX-License-Identifier: BSD-3-Clause
// Symmetric memory of the library itself: the first bytes of every PE's heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace railshmem {

/// One flag a cache line: two flags in one would make their waiters disturb each other.
struct alignas(64) ControlLine {
  uint64_t value;
};

inline constexpr int kSyncRounds = 24;  // dissemination among up to 2^24 members

/// Flags only grow (they hold the number of the synchronisation), so late and repeated updates do no harm.
struct ControlBlock {
  ControlLine round[kSyncRounds];         ///< dissemination among the PEs of a node, written by node peers
  ControlLine leader_round[kSyncRounds];  ///< dissemination among node leaders, written through the network
  ControlLine arrived;                    ///< leader only: PEs of the node that arrived, summed over all syncs
  ControlLine released;                   ///< leader only: number of the last finished sync
  uint64_t request[8];                    ///< arguments of the running collective call, compared in debug mode
};
inline constexpr size_t kControlBytes = 8192;
static_assert(sizeof(ControlBlock) <= kControlBytes && std::is_trivially_copyable_v<ControlBlock>);

}  // namespace railshmem

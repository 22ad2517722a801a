// SPDX-License-Identifier: BSD-3-Clause
// Locks between PEs (OpenSHMEM 1.6 section 9.13).
//
// A queue of PEs in the manner of Mellor-Crummey and Scott, spread over the copies of one symmetric 64-bit word. Its
// first half, on the lock's home PE, is the tail of the queue. Its second half, on every PE, is that PE's place in the
// queue: who comes next, and whether the lock is held here. A PE joins with one swap of the tail, tells the PE before
// it, and then watches its own word only; the holder passes the lock on with one update of the next PE's word.
#pragma once

#include <cstdint>

#include "src/rma/pe_state.h"

namespace railshmem {

/// Bits of a PE's place in the queue.
inline constexpr uint32_t kLockHeld = 1u << 31;          ///< the lock is this PE's
inline constexpr uint32_t kLockClaimed = 1u << 30;       ///< a thread of this PE has or awaits it; see LockTurns
inline constexpr uint32_t kLockNext = kLockClaimed - 1;  ///< the PE behind this one, plus one; 0: nobody known yet

/// The word of a lock; its halves have an address each, so that atomic updates of one do not touch the other.
struct LockWord {
  uint32_t tail;   ///< on the home PE: the last PE of the queue, plus one; 0: the lock is free
  uint32_t place;  ///< of this PE
};
static_assert(sizeof(LockWord) == sizeof(long));

/// Waits until this PE holds the lock.
void set_lock(PeState& state, const char* function, long* lock) noexcept;
/// True when this PE holds the lock now; never waits for another PE to do something.
bool test_lock(PeState& state, const char* function, long* lock) noexcept;
/// Completes the default context, then passes the lock on or frees it.
void clear_lock(PeState& state, const char* function, long* lock) noexcept;

}  // namespace railshmem

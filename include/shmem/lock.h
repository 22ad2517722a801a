// SPDX-License-Identifier: BSD-3-Clause
//
// Mutual exclusion between PEs.
#ifndef RAILSHMEM_SHMEM_LOCK_H
#define RAILSHMEM_SHMEM_LOCK_H

#include "shmem/api.h"

// clang-format off

/// Takes and releases a lock that lives in a symmetric long (OpenSHMEM 1.6, 9.13).
///
/// The word is 0 on every PE before its first use and again whenever the lock is free; in between it belongs to the
/// library. set_lock waits until the lock is this PE's, first come, first served. test_lock returns 0 when it took the
/// lock and 1, at once, when the lock was not free. clear_lock first completes what was issued on the default context.
/// A lock is not recursive; with SHMEM_THREAD_MULTIPLE the threads of a PE may compete for it like PEs.
#define RAILSHMEM_LOCK_FUNCTIONS(F) \
  F(void, set_lock, long* lock)     \
  F(void, clear_lock, long* lock)   \
  F(int, test_lock, long* lock)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_LOCK_FUNCTIONS(RAILSHMEM_DECLARE)
RAILSHMEM_END_C

#endif

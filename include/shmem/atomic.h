// SPDX-License-Identifier: BSD-3-Clause
//
// Atomic memory operations.
#ifndef RAILSHMEM_SHMEM_ATOMIC_H
#define RAILSHMEM_SHMEM_ATOMIC_H

#include "shmem/api.h"
#include "shmem/type_lists.h"
#include "shmem/types.h"

// clang-format off

/// Compares, increments and adds atomically (OpenSHMEM 1.6, 9.7.1 and 9.7.2).
///
/// An operation is atomic among atomic operations of its type, and to wait and test on that word. Beside plain loads,
/// stores, puts and gets its result is undefined. Fetching forms return the old value. Forms that fetch nothing may
/// return before they are carried out and complete at quiet. The _nbi forms deliver the old value at quiet.
/// compare_swap stores value where the word equals cond.
#define RAILSHMEM_AMO_STANDARD_TYPED(F, N, T)                                                          \
  RAILSHMEM_CTX_PAIR(F, T, N##_atomic_compare_swap, T* dest, T cond, T value, int pe)                  \
  RAILSHMEM_CTX_PAIR(F, T, N##_atomic_fetch_inc, T* dest, int pe)                                      \
  RAILSHMEM_CTX_PAIR(F, void, N##_atomic_inc, T* dest, int pe)                                         \
  RAILSHMEM_CTX_PAIR(F, T, N##_atomic_fetch_add, T* dest, T value, int pe)                             \
  RAILSHMEM_CTX_PAIR(F, void, N##_atomic_add, T* dest, T value, int pe)                                \
  RAILSHMEM_CTX_PAIR(F, void, N##_atomic_compare_swap_nbi, T* fetch, T* dest, T cond, T value, int pe) \
  RAILSHMEM_CTX_PAIR(F, void, N##_atomic_fetch_inc_nbi, T* fetch, T* dest, int pe)                     \
  RAILSHMEM_CTX_PAIR(F, void, N##_atomic_fetch_add_nbi, T* fetch, T* dest, T value, int pe)

/// Reads, writes and exchanges atomically; the rules are those of the standard set (OpenSHMEM 1.6, 9.7.1 and 9.7.2).
///
/// Floating-point values travel bit for bit, NaN payloads included.
#define RAILSHMEM_AMO_EXTENDED_TYPED(F, N, T)                                          \
  RAILSHMEM_CTX_PAIR(F, T, N##_atomic_fetch, const T* source, int pe)                  \
  RAILSHMEM_CTX_PAIR(F, void, N##_atomic_set, T* dest, T value, int pe)                \
  RAILSHMEM_CTX_PAIR(F, T, N##_atomic_swap, T* dest, T value, int pe)                  \
  RAILSHMEM_CTX_PAIR(F, void, N##_atomic_fetch_nbi, T* fetch, const T* source, int pe) \
  RAILSHMEM_CTX_PAIR(F, void, N##_atomic_swap_nbi, T* fetch, T* dest, T value, int pe)

/// Combines bits atomically; the rules are those of the standard set (OpenSHMEM 1.6, 9.7.1 and 9.7.2).
#define RAILSHMEM_AMO_BITWISE_TYPED(F, N, T)                                  \
  RAILSHMEM_AMO_BITWISE_OPERATION(F, T, N##_atomic_fetch_and, N##_atomic_and) \
  RAILSHMEM_AMO_BITWISE_OPERATION(F, T, N##_atomic_fetch_or, N##_atomic_or)   \
  RAILSHMEM_AMO_BITWISE_OPERATION(F, T, N##_atomic_fetch_xor, N##_atomic_xor)
#define RAILSHMEM_AMO_BITWISE_OPERATION(F, T, FETCHING, PLAIN) \
  RAILSHMEM_CTX_PAIR(F, T, FETCHING, T* dest, T value, int pe) \
  RAILSHMEM_CTX_PAIR(F, void, PLAIN, T* dest, T value, int pe) \
  RAILSHMEM_CTX_PAIR(F, void, FETCHING##_nbi, T* fetch, T* dest, T value, int pe)

/// The whole family.
#define RAILSHMEM_AMO_FUNCTIONS(F)                              \
  RAILSHMEM_AMO_TYPES(RAILSHMEM_AMO_STANDARD_TYPED, F)          \
  RAILSHMEM_AMO_EXTENDED_TYPES(RAILSHMEM_AMO_EXTENDED_TYPED, F) \
  RAILSHMEM_AMO_BITWISE_TYPES(RAILSHMEM_AMO_BITWISE_TYPED, F)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_AMO_FUNCTIONS(RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_END_C

#endif

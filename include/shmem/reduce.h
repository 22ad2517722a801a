// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives that compute: reductions and prefix sums over the PEs of a team.
#ifndef RAILSHMEM_SHMEM_REDUCE_H
#define RAILSHMEM_SHMEM_REDUCE_H

#include "shmem/api.h"
#include "shmem/type_lists.h"
#include "shmem/types.h"

// clang-format off

/// Combines element i of the sources of all PEs into element i of dest on every PE (OpenSHMEM 1.6, 9.10.9).
///
/// All PEs of the team call with equal arguments. dest and source are symmetric, and either one array or disjoint. dest
/// must be free for writing on all PEs before any of them calls. On return this PE's dest is complete and its source
/// may be reused, but nothing is known of the others. No elements is no operation, and then dest and source may be
/// NULL. Integers wrap. Operands meet in a fixed order: the bits of a result are equal on all PEs, and in all runs that
/// place the PEs on nodes alike. The result is zero, and not zero when the team handle is invalid.
#define RAILSHMEM_REDUCE_FUNCTION(F, NAME, T) \
  F(int, NAME, shmem_team_t team, T* dest, const T* source, size_t nreduce)

/// Adds up element i of the sources of the PEs up to this one, in the order of the team (OpenSHMEM 1.6, 9.10.10).
///
/// inscan includes this PE's source. exscan does not, and gives zeros on the first PE. All other rules are those of the
/// reductions.
#define RAILSHMEM_SCAN_FUNCTION(F, NAME, T) \
  F(int, NAME, shmem_team_t team, T* dest, const T* source, size_t nelems)

/// Everything above for one type, by what the type is capable of.
#define RAILSHMEM_REDUCE_BITS_TYPED(F, N, T)         \
  RAILSHMEM_REDUCE_FUNCTION(F, N##_and_reduce, T)    \
  RAILSHMEM_REDUCE_FUNCTION(F, N##_or_reduce, T)     \
  RAILSHMEM_REDUCE_FUNCTION(F, N##_xor_reduce, T)
#define RAILSHMEM_REDUCE_ORDER_TYPED(F, N, T)        \
  RAILSHMEM_REDUCE_FUNCTION(F, N##_max_reduce, T)    \
  RAILSHMEM_REDUCE_FUNCTION(F, N##_min_reduce, T)
#define RAILSHMEM_REDUCE_SUM_TYPED(F, N, T)          \
  RAILSHMEM_REDUCE_FUNCTION(F, N##_sum_reduce, T)    \
  RAILSHMEM_REDUCE_FUNCTION(F, N##_prod_reduce, T)
#define RAILSHMEM_SCAN_TYPED(F, N, T)                \
  RAILSHMEM_SCAN_FUNCTION(F, N##_sum_inscan, T)      \
  RAILSHMEM_SCAN_FUNCTION(F, N##_sum_exscan, T)

/// The whole family.
#define RAILSHMEM_REDUCE_FUNCTIONS(F)                           \
  RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_REDUCE_BITS_TYPED, F)   \
  RAILSHMEM_REDUCE_ORDER_TYPES(RAILSHMEM_REDUCE_ORDER_TYPED, F) \
  RAILSHMEM_REDUCE_SUM_TYPES(RAILSHMEM_REDUCE_SUM_TYPED, F)     \
  RAILSHMEM_REDUCE_SUM_TYPES(RAILSHMEM_SCAN_TYPED, F)

// clang-format on

RAILSHMEM_BEGIN_C
#if !defined(RAILSHMEM_KERNEL_NAMES)
RAILSHMEM_REDUCE_FUNCTIONS(RAILSHMEM_DECLARE)
#else
RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_REDUCE_BITS_TYPED, RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_KERNEL_TYPES(RAILSHMEM_REDUCE_ORDER_TYPED, RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_KERNEL_TYPES(RAILSHMEM_REDUCE_SUM_TYPED, RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_HOST_ORDER_TYPES(RAILSHMEM_REDUCE_ORDER_TYPED, RAILSHMEM_DECLARE)
RAILSHMEM_HOST_SUM_TYPES(RAILSHMEM_REDUCE_SUM_TYPED, RAILSHMEM_DECLARE)
RAILSHMEM_REDUCE_SUM_TYPES(RAILSHMEM_SCAN_TYPED, RAILSHMEM_DECLARE)
#endif
RAILSHMEM_END_C

#endif

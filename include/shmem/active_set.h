// SPDX-License-Identifier: BSD-3-Clause
//
// Old collectives: the PEs that take part are named by each call, and the program lends the memory for it.
#ifndef RAILSHMEM_SHMEM_ACTIVE_SET_H
#define RAILSHMEM_SHMEM_ACTIVE_SET_H

#include "shmem/api.h"
#include "shmem/type_lists.h"
#include "shmem/types.h"

// clang-format off

/// The members of an active set are PE_start, PE_start + 2^logPE_stride, ... of the world, PE_size of them. Only the
/// members call, all with equal values. pSync is one symmetric array of SHMEM_x_SYNC_SIZE longs, which all members
/// pass. It is set to SHMEM_SYNC_VALUE before its first use. The array holds that value again when a call is over on
/// all members, and only then may it serve another call.
#define RAILSHMEM_ACTIVE_SET int PE_start, int logPE_stride, int PE_size

/// Waits until all members of the active set have arrived (OpenSHMEM 1.6, 9.10, deprecated).
///
/// barrier first completes what was issued on the default context; sync completes no remote operation and orders plain
/// stores only. barrier and sync may be called again at once with an unchanged set and pSync.
#define RAILSHMEM_ACTIVE_SYNC_FUNCTIONS(F)             \
  F(void, barrier, RAILSHMEM_ACTIVE_SET, long* pSync)  \
  F(void, sync, RAILSHMEM_ACTIVE_SET, long* pSync)

/// Moves elements of 32 or 64 bits between the members of the active set (OpenSHMEM 1.6, 9.10, deprecated).
///
/// broadcast copies to dest on all members but the root; PE_root counts within the set. In all else these functions act
/// as the collectives of teams.
#define RAILSHMEM_ACTIVE_DATA_SIZED(F, BITS)                                                                       \
  F(void, alltoall##BITS, void* dest, const void* source, size_t nelems, RAILSHMEM_ACTIVE_SET, long* pSync)        \
  F(void, alltoalls##BITS, void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,            \
      RAILSHMEM_ACTIVE_SET, long* pSync)                                                                           \
  F(void, broadcast##BITS, void* dest, const void* source, size_t nelems, int PE_root, RAILSHMEM_ACTIVE_SET,       \
      long* pSync)                                                                                                 \
  F(void, collect##BITS, void* dest, const void* source, size_t nelems, RAILSHMEM_ACTIVE_SET, long* pSync)         \
  F(void, fcollect##BITS, void* dest, const void* source, size_t nelems, RAILSHMEM_ACTIVE_SET, long* pSync)

/// Combines element i of the sources of all members into element i of dest on each (OpenSHMEM 1.6, 9.10, deprecated).
///
/// dest and source are one array or disjoint. pWrk is a symmetric array of max(nreduce / 2 + 1,
/// SHMEM_REDUCE_MIN_WRKDATA_SIZE) elements; this library does not touch it.
#define RAILSHMEM_TO_ALL(F, NAME, T)                                                                          \
  F(void, NAME, T* dest, const T* source, int nreduce, RAILSHMEM_ACTIVE_SET, T* pWrk, long* pSync)
#define RAILSHMEM_TO_ALL_BITS(F, N, T)     \
  RAILSHMEM_TO_ALL(F, N##_and_to_all, T)   \
  RAILSHMEM_TO_ALL(F, N##_or_to_all, T)    \
  RAILSHMEM_TO_ALL(F, N##_xor_to_all, T)
#define RAILSHMEM_TO_ALL_ORDER(F, N, T)    \
  RAILSHMEM_TO_ALL(F, N##_max_to_all, T)   \
  RAILSHMEM_TO_ALL(F, N##_min_to_all, T)
#define RAILSHMEM_TO_ALL_SUM(F, N, T)      \
  RAILSHMEM_TO_ALL(F, N##_sum_to_all, T)   \
  RAILSHMEM_TO_ALL(F, N##_prod_to_all, T)

/// The whole family.
#define RAILSHMEM_ACTIVE_SET_FUNCTIONS(F)               \
  RAILSHMEM_ACTIVE_SYNC_FUNCTIONS(F)                    \
  RAILSHMEM_ACTIVE_DATA_SIZED(F, 32)                    \
  RAILSHMEM_ACTIVE_DATA_SIZED(F, 64)                    \
  RAILSHMEM_TO_ALL_BITS_TYPES(RAILSHMEM_TO_ALL_BITS, F)    \
  RAILSHMEM_TO_ALL_ORDER_TYPES(RAILSHMEM_TO_ALL_ORDER, F)  \
  RAILSHMEM_TO_ALL_SUM_TYPES(RAILSHMEM_TO_ALL_SUM, F)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_ACTIVE_SET_FUNCTIONS(RAILSHMEM_DECLARE)
RAILSHMEM_END_C

#endif

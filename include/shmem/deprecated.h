// SPDX-License-Identifier: BSD-3-Clause
//
// Names that newer ones have replaced and that the standard still asks for.
#ifndef RAILSHMEM_SHMEM_DEPRECATED_H
#define RAILSHMEM_SHMEM_DEPRECATED_H

#include "shmem/api.h"
#include "shmem/type_lists.h"
#include "shmem/types.h"
#include "shmem/wait.h"

// clang-format off

/// Old names of setup, query and heap calls, whole names without a prefix (OpenSHMEM 1.6, annex "Deprecated API").
///
/// start_pes is init with a finalize implied at exit; its argument means nothing. The others act as init's and malloc's
/// families do. A profiling twin has a p in front: pstart_pes, p_my_pe, pshmalloc.
#define RAILSHMEM_OLD_NAME_FUNCTIONS(F)       \
  F(void, start_pes, int npes)                \
  F(int, _my_pe, void)                        \
  F(int, _num_pes, void)                      \
  F(void*, shmalloc, size_t size)             \
  F(void, shfree, void* ptr)                  \
  F(void*, shrealloc, void* ptr, size_t size) \
  F(void*, shmemalign, size_t alignment, size_t size)

/// Old waits (OpenSHMEM 1.6, annex "Deprecated API").
///
/// wait returns once the word differs from cmp_value. The forms without a type name act on long.
#define RAILSHMEM_OLD_WAIT_TYPED(F, N, T) \
  F(void, N##_wait, T* ivar, T cmp_value)
#define RAILSHMEM_OLD_WAIT_FUNCTIONS(F)                    \
  F(void, wait, long* ivar, long cmp_value)                \
  RAILSHMEM_OLD_WAIT_TYPES(RAILSHMEM_OLD_WAIT_TYPED, F)
#define RAILSHMEM_OLD_P2P_FUNCTIONS(F)                     \
  F(void, wait_until, long* ivar, int cmp, long cmp_value) \
  RAILSHMEM_OLD_P2P_TYPES(RAILSHMEM_WAIT_SCALAR_TYPED, F)

/// Old names of atomic operations (OpenSHMEM 1.6, annex "Deprecated API").
///
/// cswap, finc and fadd stand for compare_swap, fetch_inc and fetch_add.
#define RAILSHMEM_OLD_AMO_TYPED(F, N, T)            \
  F(T, N##_cswap, T* dest, T cond, T value, int pe) \
  F(T, N##_finc, T* dest, int pe)                   \
  F(void, N##_inc, T* dest, int pe)                 \
  F(T, N##_fadd, T* dest, T value, int pe)          \
  F(void, N##_add, T* dest, T value, int pe)
#define RAILSHMEM_OLD_AMO_EXTENDED_TYPED(F, N, T) \
  F(T, N##_fetch, const T* source, int pe)        \
  F(void, N##_set, T* dest, T value, int pe)      \
  F(T, N##_swap, T* dest, T value, int pe)
#define RAILSHMEM_OLD_AMO_FUNCTIONS(F)                \
  RAILSHMEM_OLD_AMO_TYPES(RAILSHMEM_OLD_AMO_TYPED, F) \
  RAILSHMEM_OLD_AMO_EXTENDED_TYPES(RAILSHMEM_OLD_AMO_EXTENDED_TYPED, F)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_OLD_NAME_FUNCTIONS(RAILSHMEM_DECLARE_PLAIN)
RAILSHMEM_OLD_WAIT_FUNCTIONS(RAILSHMEM_DECLARE)
RAILSHMEM_OLD_P2P_FUNCTIONS(RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_OLD_AMO_FUNCTIONS(RAILSHMEM_DECLARE)
RAILSHMEM_END_C

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_REDUCE_H
#define RAILSHMEM_COMPAT_NVSHMEM_REDUCE_H

#include "nvshmem/constants.h"

// clang-format off
#define RAILSHMEM_COMPAT_REDUCTION(EMIT, P, Q, NAME, T)                                                                \
  EMIT(int, P##NAME, (nvshmem_team_t team, T* dest, const T* source, size_t nreduce),                                  \
      Q##NAME, (team, dest, source, nreduce))
#define RAILSHMEM_COMPAT_REDUCE(NAME, T)                                                                               \
  RAILSHMEM_COMPAT_REDUCTION(RAILSHMEM_COMPAT, nvshmem_, shmem_, NAME, T)                                              \
  RAILSHMEM_COMPAT_REDUCTION(RAILSHMEM_COMPAT_KERNEL, nvshmemx_, shmemx_, NAME##_warp, T)                              \
  RAILSHMEM_COMPAT_REDUCTION(RAILSHMEM_COMPAT_KERNEL, nvshmemx_, shmemx_, NAME##_block, T)
#define RAILSHMEM_COMPAT_REDUCE_BITS(A, N, T)                                                                          \
  RAILSHMEM_COMPAT_REDUCE(N##_and_reduce, T)                                                                           \
  RAILSHMEM_COMPAT_REDUCE(N##_or_reduce, T)                                                                            \
  RAILSHMEM_COMPAT_REDUCE(N##_xor_reduce, T)
#define RAILSHMEM_COMPAT_REDUCE_VALUES(A, N, T)                                                                        \
  RAILSHMEM_COMPAT_REDUCE(N##_max_reduce, T)                                                                           \
  RAILSHMEM_COMPAT_REDUCE(N##_min_reduce, T)                                                                           \
  RAILSHMEM_COMPAT_REDUCE(N##_sum_reduce, T)                                                                           \
  RAILSHMEM_COMPAT_REDUCE(N##_prod_reduce, T)
// clang-format on

RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_COMPAT_REDUCE_BITS, )
RAILSHMEM_KERNEL_TYPES(RAILSHMEM_COMPAT_REDUCE_VALUES, )

#endif

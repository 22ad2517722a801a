// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions, also those that deal their result out. 16-bit types are for kernels only.
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
#define RAILSHMEM_COMPAT_SCATTER(NAME, T)                                                                              \
  RAILSHMEM_COMPAT_REDUCTION(RAILSHMEM_COMPAT, nvshmem_, shmemx_, NAME, T)                                             \
  RAILSHMEM_COMPAT_REDUCTION(RAILSHMEM_COMPAT_KERNEL, nvshmemx_, shmemx_, NAME##_warp, T)                              \
  RAILSHMEM_COMPAT_REDUCTION(RAILSHMEM_COMPAT_KERNEL, nvshmemx_, shmemx_, NAME##_block, T)
#define RAILSHMEM_COMPAT_SCATTER_BITS(A, N, T)                                                                         \
  RAILSHMEM_COMPAT_SCATTER(N##_and_reducescatter, T)                                                                   \
  RAILSHMEM_COMPAT_SCATTER(N##_or_reducescatter, T)                                                                    \
  RAILSHMEM_COMPAT_SCATTER(N##_xor_reducescatter, T)
#define RAILSHMEM_COMPAT_SCATTER_VALUES(A, N, T)                                                                       \
  RAILSHMEM_COMPAT_SCATTER(N##_max_reducescatter, T)                                                                   \
  RAILSHMEM_COMPAT_SCATTER(N##_min_reducescatter, T)                                                                   \
  RAILSHMEM_COMPAT_SCATTER(N##_sum_reducescatter, T)                                                                   \
  RAILSHMEM_COMPAT_SCATTER(N##_prod_reducescatter, T)

/// 16 bits: the arithmetic is that of CUDA's own types. RUN is reduce or reducescatter.
#define RAILSHMEM_COMPAT_HALF_REDUCTION(NAME, T, RUN, OP, SCOPE)                                                       \
  RAILSHMEM_COMPAT_KERNEL(int, NAME, (nvshmem_team_t team, T* dest, const T* source, size_t nreduce),                  \
      (railshmem::device::RUN##_on<railshmem::device::OP, railshmem::device::SCOPE>), (team, dest, source, nreduce))
#define RAILSHMEM_COMPAT_HALF_BY(NAME, T, RUN, OP)                                                                     \
  RAILSHMEM_COMPAT_HALF_REDUCTION(nvshmem_##NAME##_##RUN, T, RUN, OP, ThreadScope)                                     \
  RAILSHMEM_COMPAT_HALF_REDUCTION(nvshmemx_##NAME##_##RUN##_warp, T, RUN, OP, WarpScope)                               \
  RAILSHMEM_COMPAT_HALF_REDUCTION(nvshmemx_##NAME##_##RUN##_block, T, RUN, OP, BlockScope)
#define RAILSHMEM_COMPAT_HALF_OPERATIONS(N, T, RUN)                                                                    \
  RAILSHMEM_COMPAT_HALF_BY(N##_max, T, RUN, Max)                                                                       \
  RAILSHMEM_COMPAT_HALF_BY(N##_min, T, RUN, Min)                                                                       \
  RAILSHMEM_COMPAT_HALF_BY(N##_sum, T, RUN, Sum)                                                                       \
  RAILSHMEM_COMPAT_HALF_BY(N##_prod, T, RUN, Product)
#define RAILSHMEM_COMPAT_HALF_REDUCE(A, N, T)                                                                          \
  RAILSHMEM_COMPAT_HALF_OPERATIONS(N, T, reduce)                                                                       \
  RAILSHMEM_COMPAT_HALF_OPERATIONS(N, T, reducescatter)
// clang-format on

RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_COMPAT_REDUCE_BITS, )
RAILSHMEM_KERNEL_TYPES(RAILSHMEM_COMPAT_REDUCE_VALUES, )
RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_COMPAT_SCATTER_BITS, )
RAILSHMEM_KERNEL_TYPES(RAILSHMEM_COMPAT_SCATTER_VALUES, )
RAILSHMEM_COMPAT_HALF_TYPES(RAILSHMEM_COMPAT_HALF_REDUCE, )

#endif

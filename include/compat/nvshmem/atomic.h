// SPDX-License-Identifier: BSD-3-Clause
//
// Atomic memory operations.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_ATOMIC_H
#define RAILSHMEM_COMPAT_NVSHMEM_ATOMIC_H

#include "nvshmem/constants.h"

// clang-format off
#define RAILSHMEM_COMPAT_OPERAND(R, NAME, T)                                                                           \
  RAILSHMEM_COMPAT(R, nvshmem_##NAME, (T* dest, T value, int pe), shmem_##NAME, (dest, value, pe))
#define RAILSHMEM_COMPAT_AMO_STANDARD(A, N, T)                                                                         \
  RAILSHMEM_COMPAT(T, nvshmem_##N##_atomic_compare_swap, (T* dest, T cond, T value, int pe),                           \
      shmem_##N##_atomic_compare_swap, (dest, cond, value, pe))                                                        \
  RAILSHMEM_COMPAT(T, nvshmem_##N##_atomic_fetch_inc, (T* dest, int pe), shmem_##N##_atomic_fetch_inc, (dest, pe))     \
  RAILSHMEM_COMPAT(void, nvshmem_##N##_atomic_inc, (T* dest, int pe), shmem_##N##_atomic_inc, (dest, pe))              \
  RAILSHMEM_COMPAT_OPERAND(T, N##_atomic_fetch_add, T)                                                                 \
  RAILSHMEM_COMPAT_OPERAND(void, N##_atomic_add, T)
#define RAILSHMEM_COMPAT_AMO_EXTENDED(A, N, T)                                                                         \
  RAILSHMEM_COMPAT(T, nvshmem_##N##_atomic_fetch, (const T* source, int pe), shmem_##N##_atomic_fetch, (source, pe))   \
  RAILSHMEM_COMPAT_OPERAND(void, N##_atomic_set, T)                                                                    \
  RAILSHMEM_COMPAT_OPERAND(T, N##_atomic_swap, T)
#define RAILSHMEM_COMPAT_AMO_BITWISE(A, N, T)                                                                          \
  RAILSHMEM_COMPAT_OPERAND(T, N##_atomic_fetch_and, T)                                                                 \
  RAILSHMEM_COMPAT_OPERAND(void, N##_atomic_and, T)                                                                    \
  RAILSHMEM_COMPAT_OPERAND(T, N##_atomic_fetch_or, T)                                                                  \
  RAILSHMEM_COMPAT_OPERAND(void, N##_atomic_or, T)                                                                     \
  RAILSHMEM_COMPAT_OPERAND(T, N##_atomic_fetch_xor, T)                                                                 \
  RAILSHMEM_COMPAT_OPERAND(void, N##_atomic_xor, T)
// clang-format on

RAILSHMEM_AMO_TYPES(RAILSHMEM_COMPAT_AMO_STANDARD, )
RAILSHMEM_AMO_EXTENDED_TYPES(RAILSHMEM_COMPAT_AMO_EXTENDED, )
RAILSHMEM_AMO_BITWISE_TYPES(RAILSHMEM_COMPAT_AMO_BITWISE, )

#endif

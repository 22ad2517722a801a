// SPDX-License-Identifier: BSD-3-Clause
//
// Waits for, and tests of, local words.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_WAIT_H
#define RAILSHMEM_COMPAT_NVSHMEM_WAIT_H

#include "nvshmem/constants.h"

// clang-format off
#define RAILSHMEM_COMPAT_WAIT(A, N, T)                                                                                 \
  RAILSHMEM_COMPAT(void, nvshmem_##N##_wait_until, (T* ivar, int cmp, T cmp_value), shmem_##N##_wait_until,            \
      (ivar, cmp, cmp_value))                                                                                          \
  RAILSHMEM_COMPAT(int, nvshmem_##N##_test, (T* ivar, int cmp, T cmp_value), shmem_##N##_test, (ivar, cmp, cmp_value))

/// VALUE: the parameter cmp_value with its type.
#define RAILSHMEM_COMPAT_WORDS(P, R, NAME, T, VALUE)                                                                   \
  RAILSHMEM_COMPAT(R, nvshmem_##NAME, (T* ivars, size_t nelems, const int* status, int cmp, VALUE),                    \
      P##NAME, (ivars, nelems, status, cmp, cmp_value))
#define RAILSHMEM_COMPAT_SOME(P, R, NAME, T, VALUE)                                                                    \
  RAILSHMEM_COMPAT(R, nvshmem_##NAME, (T* ivars, size_t nelems, size_t* indices, const int* status, int cmp, VALUE),   \
      P##NAME, (ivars, nelems, indices, status, cmp, cmp_value))
#define RAILSHMEM_COMPAT_WORDS_BOTH(M, P, R, NAME, T)                                                                  \
  M(P, R, NAME, T, T cmp_value)                                                                                        \
  M(P, R, NAME##_vector, T, const T* cmp_value)
/// P: our prefix.
#define RAILSHMEM_COMPAT_WAIT_MANY(P, N, T)                                                                            \
  RAILSHMEM_COMPAT_WORDS_BOTH(RAILSHMEM_COMPAT_WORDS, P, void, N##_wait_until_all, T)                                  \
  RAILSHMEM_COMPAT_WORDS_BOTH(RAILSHMEM_COMPAT_WORDS, P, size_t, N##_wait_until_any, T)                                \
  RAILSHMEM_COMPAT_WORDS_BOTH(RAILSHMEM_COMPAT_SOME, P, size_t, N##_wait_until_some, T)                                \
  RAILSHMEM_COMPAT_WORDS_BOTH(RAILSHMEM_COMPAT_WORDS, P, int, N##_test_all, T)                                         \
  RAILSHMEM_COMPAT_WORDS_BOTH(RAILSHMEM_COMPAT_WORDS, P, size_t, N##_test_any, T)                                      \
  RAILSHMEM_COMPAT_WORDS_BOTH(RAILSHMEM_COMPAT_SOME, P, size_t, N##_test_some, T)
// clang-format on

RAILSHMEM_AMO_TYPES(RAILSHMEM_COMPAT_WAIT, )
RAILSHMEM_OLD_P2P_TYPES(RAILSHMEM_COMPAT_WAIT, )
RAILSHMEM_AMO_TYPES(RAILSHMEM_COMPAT_WAIT_MANY, shmem_)
RAILSHMEM_OLD_P2P_TYPES(RAILSHMEM_COMPAT_WAIT_MANY, shmemx_)

#endif

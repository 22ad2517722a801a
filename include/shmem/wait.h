// SPDX-License-Identifier: BSD-3-Clause
//
// Point-to-point synchronisation: waiting for, or testing, words that other PEs or threads update.
#ifndef RAILSHMEM_SHMEM_WAIT_H
#define RAILSHMEM_SHMEM_WAIT_H

#include "shmem/api.h"
#include "shmem/type_lists.h"
#include "shmem/types.h"

// clang-format off

/// Waits until a local word compares true with a value, or tests once whether it does (OpenSHMEM 1.6, 9.11).
///
/// cmp is a SHMEM_CMP_ constant. A satisfied wait or test has acquired whatever the update it saw was ordered after.
/// test returns 1 or 0 and never blocks.
#define RAILSHMEM_WAIT_SCALAR_TYPED(F, N, T)             \
  F(void, N##_wait_until, T* ivar, int cmp, T cmp_value) \
  F(int, N##_test, T* ivar, int cmp, T cmp_value)

/// Waits for, or tests, all, any one or some of nelems local words against one value (OpenSHMEM 1.6, 9.11).
///
/// A word whose status is nonzero is left out; NULL leaves none out. any returns the index of a satisfied word, some
/// the number of indices it wrote, at most nelems and in no order; test_any returns SIZE_MAX and test_some 0 where
/// nothing is satisfied. With every word left out all is satisfied, any is SIZE_MAX and some is 0, at once. A word
/// that stays satisfied is reported eventually.
#define RAILSHMEM_WAIT_MANY_TYPED(F, N, T)                                                                          \
  F(void, N##_wait_until_all, T* ivars, size_t nelems, const int* status, int cmp, T cmp_value)                     \
  F(size_t, N##_wait_until_any, T* ivars, size_t nelems, const int* status, int cmp, T cmp_value)                   \
  F(size_t, N##_wait_until_some, T* ivars, size_t nelems, size_t* indices, const int* status, int cmp, T cmp_value) \
  F(int, N##_test_all, T* ivars, size_t nelems, const int* status, int cmp, T cmp_value)                            \
  F(size_t, N##_test_any, T* ivars, size_t nelems, const int* status, int cmp, T cmp_value)                         \
  F(size_t, N##_test_some, T* ivars, size_t nelems, size_t* indices, const int* status, int cmp, T cmp_value)

/// Waits for, or tests, nelems local words, each against a value of its own (OpenSHMEM 1.6, 9.11).
///
/// all, any and some, and all other rules, are those for one value, with cmp_values[i] for word i.
#define RAILSHMEM_WAIT_VECTOR_TYPED(F, N, T)                                                                     \
  F(void, N##_wait_until_all_vector, T* ivars, size_t nelems, const int* status, int cmp, const T* cmp_values)   \
  F(size_t, N##_wait_until_any_vector, T* ivars, size_t nelems, const int* status, int cmp, const T* cmp_values) \
  F(size_t, N##_wait_until_some_vector, T* ivars, size_t nelems, size_t* indices, const int* status, int cmp,    \
      const T* cmp_values)                                                                                       \
  F(int, N##_test_all_vector, T* ivars, size_t nelems, const int* status, int cmp, const T* cmp_values)          \
  F(size_t, N##_test_any_vector, T* ivars, size_t nelems, const int* status, int cmp, const T* cmp_values)       \
  F(size_t, N##_test_some_vector, T* ivars, size_t nelems, size_t* indices, const int* status, int cmp,          \
      const T* cmp_values)

/// The whole family, less the deprecated short forms (see deprecated.h).
#define RAILSHMEM_WAIT_FUNCTIONS(F)                   \
  RAILSHMEM_AMO_TYPES(RAILSHMEM_WAIT_SCALAR_TYPED, F) \
  RAILSHMEM_AMO_TYPES(RAILSHMEM_WAIT_MANY_TYPED, F)   \
  RAILSHMEM_AMO_TYPES(RAILSHMEM_WAIT_VECTOR_TYPED, F)

/// Waits and tests on many words of short types. The standard has short types, deprecated, for one word only. Programs
/// use short types in the generics for many words nevertheless, which find these extensions (shmemx_).
#define RAILSHMEM_WAIT_SHORT_FUNCTIONS(F)               \
  RAILSHMEM_OLD_P2P_TYPES(RAILSHMEM_WAIT_MANY_TYPED, F) \
  RAILSHMEM_OLD_P2P_TYPES(RAILSHMEM_WAIT_VECTOR_TYPED, F)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_WAIT_FUNCTIONS(RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_WAIT_SHORT_FUNCTIONS(RAILSHMEM_DECLARE_EXTENSION_BOTH)
RAILSHMEM_END_C

#endif

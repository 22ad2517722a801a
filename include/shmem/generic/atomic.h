// SPDX-License-Identifier: BSD-3-Clause
//
// C11 names of the atomic memory operations.
#ifndef RAILSHMEM_SHMEM_GENERIC_ATOMIC_H
#define RAILSHMEM_SHMEM_GENERIC_ATOMIC_H

#include "shmem/generic/select.h"

/// The standard set.
#define shmem_atomic_compare_swap(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_inc(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_add(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_add, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_fetch_add_nbi, __VA_ARGS__)

/// The extended set; the object that fetch reads may be const.
#define shmem_atomic_fetch(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_EXTENDED_DISTINCT_TYPES, RAILSHMEM_PICK_READ, _atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_EXTENDED_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_EXTENDED_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_swap, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_EXTENDED_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_EXTENDED_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_swap_nbi, __VA_ARGS__)

/// The bitwise set.
#define shmem_atomic_fetch_and(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_and(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_or(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_xor(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES, RAILSHMEM_PICK, _atomic_fetch_xor_nbi, __VA_ARGS__)

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// C11 names of reductions and scans; behind the team, dest decides.
#ifndef RAILSHMEM_SHMEM_GENERIC_REDUCE_H
#define RAILSHMEM_SHMEM_GENERIC_REDUCE_H

#include "shmem/generic/select.h"

/// Bits.
#define shmem_and_reduce(...) \
  RAILSHMEM_SELECT_TEAM(RAILSHMEM_REDUCE_BITS_DISTINCT_TYPES, RAILSHMEM_PICK, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) \
  RAILSHMEM_SELECT_TEAM(RAILSHMEM_REDUCE_BITS_DISTINCT_TYPES, RAILSHMEM_PICK, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) \
  RAILSHMEM_SELECT_TEAM(RAILSHMEM_REDUCE_BITS_DISTINCT_TYPES, RAILSHMEM_PICK, _xor_reduce, __VA_ARGS__)

/// Order.
#define shmem_max_reduce(...) \
  RAILSHMEM_SELECT_TEAM(RAILSHMEM_REDUCE_ORDER_DISTINCT_TYPES, RAILSHMEM_PICK, _max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) \
  RAILSHMEM_SELECT_TEAM(RAILSHMEM_REDUCE_ORDER_DISTINCT_TYPES, RAILSHMEM_PICK, _min_reduce, __VA_ARGS__)

/// Arithmetic.
#define shmem_sum_reduce(...) \
  RAILSHMEM_SELECT_TEAM(RAILSHMEM_REDUCE_SUM_DISTINCT_TYPES, RAILSHMEM_PICK, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) \
  RAILSHMEM_SELECT_TEAM(RAILSHMEM_REDUCE_SUM_DISTINCT_TYPES, RAILSHMEM_PICK, _prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...) \
  RAILSHMEM_SELECT_TEAM(RAILSHMEM_REDUCE_SUM_DISTINCT_TYPES, RAILSHMEM_PICK, _sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...) \
  RAILSHMEM_SELECT_TEAM(RAILSHMEM_REDUCE_SUM_DISTINCT_TYPES, RAILSHMEM_PICK, _sum_exscan, __VA_ARGS__)

#endif

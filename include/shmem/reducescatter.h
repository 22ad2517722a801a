// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions whose result is dealt out, shmemx_TYPE_OP_reducescatter: for host code with shmemx.h, and for kernels with
// shmem.h, by one thread, and by a warp or block as shmemx_TYPE_OP_reducescatter_warp and _block.
#ifndef RAILSHMEM_SHMEM_REDUCESCATTER_H
#define RAILSHMEM_SHMEM_REDUCESCATTER_H

#include "shmem/api.h"
#include "shmem/type_lists.h"
#include "shmem/types.h"

// clang-format off

/// Reduces as shmem_TYPENAME_OP_reduce does and deals the result out: member i gets, in dest, the nelems elements from
/// element i times nelems on.
///
/// nelems counts the elements of dest; a source has nelems elements for every member. All members call with equal team,
/// source and nelems. dest and source are symmetric. dest may be a part of source: the caller's own part or another
/// one, and each member may pass a different part. On return dest is complete and source may be reused, but nothing is
/// known of the other members. No elements is no operation, and then dest and source may be NULL. Integers wrap.
/// Operands meet in the order of the team, so the bits of a result are equal in all runs. The result is zero, and not
/// zero when the team handle is invalid.
#define RAILSHMEM_REDUCESCATTER_FUNCTION(F, NAME, T) \
  F(int, NAME, shmem_team_t team, T* dest, const T* source, size_t nelems)

/// Everything for one type, by what the type is capable of.
#define RAILSHMEM_REDUCESCATTER_BITS_TYPED(F, N, T)              \
  RAILSHMEM_REDUCESCATTER_FUNCTION(F, N##_and_reducescatter, T)  \
  RAILSHMEM_REDUCESCATTER_FUNCTION(F, N##_or_reducescatter, T)   \
  RAILSHMEM_REDUCESCATTER_FUNCTION(F, N##_xor_reducescatter, T)
#define RAILSHMEM_REDUCESCATTER_ORDER_TYPED(F, N, T)             \
  RAILSHMEM_REDUCESCATTER_FUNCTION(F, N##_max_reducescatter, T)  \
  RAILSHMEM_REDUCESCATTER_FUNCTION(F, N##_min_reducescatter, T)
#define RAILSHMEM_REDUCESCATTER_SUM_TYPED(F, N, T)               \
  RAILSHMEM_REDUCESCATTER_FUNCTION(F, N##_sum_reducescatter, T)  \
  RAILSHMEM_REDUCESCATTER_FUNCTION(F, N##_prod_reducescatter, T)

/// What kernels can call too, and what only host code can, for want of arithmetic on GPUs.
#define RAILSHMEM_REDUCESCATTER_BOTH_FUNCTIONS(F)                        \
  RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_REDUCESCATTER_BITS_TYPED, F)     \
  RAILSHMEM_KERNEL_TYPES(RAILSHMEM_REDUCESCATTER_ORDER_TYPED, F)         \
  RAILSHMEM_KERNEL_TYPES(RAILSHMEM_REDUCESCATTER_SUM_TYPED, F)
#define RAILSHMEM_REDUCESCATTER_HOST_FUNCTIONS(F)                        \
  RAILSHMEM_HOST_ORDER_TYPES(RAILSHMEM_REDUCESCATTER_ORDER_TYPED, F)     \
  RAILSHMEM_HOST_SUM_TYPES(RAILSHMEM_REDUCESCATTER_SUM_TYPED, F)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_REDUCESCATTER_BOTH_FUNCTIONS(RAILSHMEM_DECLARE_EXTENSION_BOTH)
RAILSHMEM_REDUCESCATTER_HOST_FUNCTIONS(RAILSHMEM_DECLARE_EXTENSION)
RAILSHMEM_END_C

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions of floating-point numbers of 16 bits, which the standard does not know: IEEE half and bfloat16, given as
// their bits. For host code; include/compat has them by CUDA's types, for kernels too.
#ifndef RAILSHMEM_SHMEM_REDUCE16_H
#define RAILSHMEM_SHMEM_REDUCE16_H

#include "shmem/api.h"
#include "shmem/types.h"

// clang-format off

/// shmemx_half_OP_reduce, shmemx_half_OP_reducescatter, shmemx_bfloat16_OP_reduce and shmemx_bfloat16_OP_reducescatter.
/// OP is max, min, sum or prod.
///
/// The rules are those of shmem/reduce.h and shmem/reducescatter.h. Each sum and product is rounded to 16 bits, in the
/// order of the team.
#define RAILSHMEM_REDUCE16_OPERATION(F, N, OP)                                                       \
  F(int, N##_##OP##_reduce, shmem_team_t team, uint16_t* dest, const uint16_t* source, size_t nreduce) \
  F(int, N##_##OP##_reducescatter, shmem_team_t team, uint16_t* dest, const uint16_t* source, size_t nelems)
#define RAILSHMEM_REDUCE16_TYPED(F, N)      \
  RAILSHMEM_REDUCE16_OPERATION(F, N, max)   \
  RAILSHMEM_REDUCE16_OPERATION(F, N, min)   \
  RAILSHMEM_REDUCE16_OPERATION(F, N, sum)   \
  RAILSHMEM_REDUCE16_OPERATION(F, N, prod)
#define RAILSHMEM_REDUCE16_FUNCTIONS(F)     \
  RAILSHMEM_REDUCE16_TYPED(F, half)         \
  RAILSHMEM_REDUCE16_TYPED(F, bfloat16)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_REDUCE16_FUNCTIONS(RAILSHMEM_DECLARE_EXTENSION)
RAILSHMEM_END_C

#endif

// SPDX-License-Identifier: BSD-3-Clause
// Every operation that reductions have for every type, once for all families of names that are made of them.
#pragma once

#include "shmem/type_lists.h"
#include "src/collective/reduce_ops.h"

namespace railshmem {

/// What one of the names says.
struct Reducer {
  const char* function;
  ReduceOp op;
  TypeKind kind;
  size_t element;  ///< bytes
};

}  // namespace railshmem

// clang-format off
/// RAILSHMEM_FOR_REDUCTIONS(X) calls X(TYPENAME_WORD, OPERATION, TYPE).
#define RAILSHMEM_REDUCTIONS_BITS(X, N, T)  X(N##_and, bit_and, T) X(N##_or, bit_or, T) X(N##_xor, bit_xor, T)
#define RAILSHMEM_REDUCTIONS_ORDER(X, N, T) X(N##_max, max, T) X(N##_min, min, T)
#define RAILSHMEM_REDUCTIONS_SUM(X, N, T)   X(N##_sum, sum, T) X(N##_prod, prod, T)
#define RAILSHMEM_FOR_REDUCTIONS(X)                           \
  RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_REDUCTIONS_BITS, X)   \
  RAILSHMEM_REDUCE_ORDER_TYPES(RAILSHMEM_REDUCTIONS_ORDER, X) \
  RAILSHMEM_REDUCE_SUM_TYPES(RAILSHMEM_REDUCTIONS_SUM, X)
/// RAILSHMEM_FOR_REDUCTIONS16(X) calls X(TYPENAME_WORD, OPERATION, TYPE): numbers that callers give as their bits.
#define RAILSHMEM_REDUCTIONS16(X, N, T) RAILSHMEM_REDUCTIONS_ORDER(X, N, T) RAILSHMEM_REDUCTIONS_SUM(X, N, T)
#define RAILSHMEM_FOR_REDUCTIONS16(X) RAILSHMEM_REDUCTIONS16(X, half, Half) RAILSHMEM_REDUCTIONS16(X, bfloat16, Bfloat16)
// clang-format on

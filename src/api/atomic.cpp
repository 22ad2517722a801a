// SPDX-License-Identifier: BSD-3-Clause
// Atomic memory operations: every name of include/shmem/atomic.h, and the old names of section "Deprecated API".
#include "src/rma/atomic.h"

#include "src/api/alias.h"
#include "src/api/call.h"
#include "src/api/probe.h"

using namespace railshmem;

// clang-format off
// FUNCTION with its ctx twin: RESULT f([ctx,] PARAMETERS) { BODY } where BODY uses `state`, `context` and NAME.
#define BOTH(RESULT, FUNCTION, PARAMETERS, BODY)                                                  \
  RESULT pshmem_##FUNCTION(RAILSHMEM_UNWRAP PARAMETERS) {                                         \
    static constexpr char kName[] = "shmem_" #FUNCTION;                                           \
    RAILSHMEM_ENTER(kName);                                                                       \
    BODY;                                                                                         \
  }                                                                                               \
  RESULT pshmem_ctx_##FUNCTION(shmem_ctx_t ctx, RAILSHMEM_UNWRAP PARAMETERS) {                    \
    static constexpr char kName[] = "shmem_ctx_" #FUNCTION;                                       \
    RAILSHMEM_ENTER_CTX(kName);                                                                   \
    BODY;                                                                                         \
  }
#define RAILSHMEM_UNWRAP(...) __VA_ARGS__

#define OBSERVED(T, OPERATION, ...) RAILSHMEM_OBSERVED(amo, OPERATION<T>, kName, (sizeof(T), pe, dest), __VA_ARGS__)
#define FETCHING(T, OP, OPERAND, COMPARE) OBSERVED(T, amo, AmoOp::OP, dest, OPERAND, COMPARE, pe)
#define PLAIN(T, OP, OPERAND) OBSERVED(T, amo_plain, AmoOp::OP, dest, OPERAND, pe)
#define NBI(T, OP, OPERAND, COMPARE) OBSERVED(T, amo_nbi, AmoOp::OP, fetch, dest, OPERAND, COMPARE, pe)

#define STANDARD(N, T)                                                                                                \
  BOTH(T, N##_atomic_compare_swap, (T* dest, T cond, T value, int pe), FETCHING(T, compare_swap, value, cond))        \
  BOTH(T, N##_atomic_fetch_inc, (T* dest, int pe), FETCHING(T, fetch_add, static_cast<T>(1), static_cast<T>(0)))                                 \
  BOTH(void, N##_atomic_inc, (T* dest, int pe), PLAIN(T, add, static_cast<T>(1)))                                                  \
  BOTH(T, N##_atomic_fetch_add, (T* dest, T value, int pe), FETCHING(T, fetch_add, value, static_cast<T>(0)))                       \
  BOTH(void, N##_atomic_add, (T* dest, T value, int pe), PLAIN(T, add, value))                                        \
  BOTH(void, N##_atomic_compare_swap_nbi, (T* fetch, T* dest, T cond, T value, int pe), NBI(T, compare_swap, value, cond)) \
  BOTH(void, N##_atomic_fetch_inc_nbi, (T* fetch, T* dest, int pe), NBI(T, fetch_add, static_cast<T>(1), static_cast<T>(0)))                     \
  BOTH(void, N##_atomic_fetch_add_nbi, (T* fetch, T* dest, T value, int pe), NBI(T, fetch_add, value, static_cast<T>(0)))

#define EXTENDED(N, T)                                                                                                \
  BOTH(T, N##_atomic_fetch, (const T* dest, int pe), FETCHING(T, fetch, static_cast<T>(0), static_cast<T>(0)))                                    \
  BOTH(void, N##_atomic_set, (T* dest, T value, int pe), PLAIN(T, set, value))                                        \
  BOTH(T, N##_atomic_swap, (T* dest, T value, int pe), FETCHING(T, swap, value, static_cast<T>(0)))                                 \
  BOTH(void, N##_atomic_fetch_nbi, (T* fetch, const T* dest, int pe), NBI(T, fetch, static_cast<T>(0), static_cast<T>(0)))                        \
  BOTH(void, N##_atomic_swap_nbi, (T* fetch, T* dest, T value, int pe), NBI(T, swap, value, static_cast<T>(0)))

#define BITWISE_OPERATION(N, T, NAME)                                                                                 \
  BOTH(T, N##_atomic_fetch_##NAME, (T* dest, T value, int pe), FETCHING(T, fetch_##NAME, value, static_cast<T>(0)))                 \
  BOTH(void, N##_atomic_##NAME, (T* dest, T value, int pe), PLAIN(T, bit_##NAME, value))                              \
  BOTH(void, N##_atomic_fetch_##NAME##_nbi, (T* fetch, T* dest, T value, int pe), NBI(T, fetch_##NAME, value, static_cast<T>(0)))
#define BITWISE(N, T) BITWISE_OPERATION(N, T, and) BITWISE_OPERATION(N, T, or) BITWISE_OPERATION(N, T, xor)

// The old names have no ctx twin and act as the new ones.
#define OLD(RESULT, FUNCTION, PARAMETERS, BODY)           \
  RESULT pshmem_##FUNCTION(RAILSHMEM_UNWRAP PARAMETERS) { \
    static constexpr char kName[] = "shmem_" #FUNCTION;   \
    RAILSHMEM_ENTER(kName);                               \
    BODY;                                                 \
  }
#define OLD_STANDARD(N, T)                                                                             \
  OLD(T, N##_cswap, (T* dest, T cond, T value, int pe), FETCHING(T, compare_swap, value, cond))        \
  OLD(T, N##_finc, (T* dest, int pe), FETCHING(T, fetch_add, static_cast<T>(1), static_cast<T>(0)))                               \
  OLD(void, N##_inc, (T* dest, int pe), PLAIN(T, add, static_cast<T>(1)))                                           \
  OLD(T, N##_fadd, (T* dest, T value, int pe), FETCHING(T, fetch_add, value, static_cast<T>(0)))                     \
  OLD(void, N##_add, (T* dest, T value, int pe), PLAIN(T, add, value))
#define OLD_EXTENDED(N, T)                                                                             \
  OLD(T, N##_fetch, (const T* dest, int pe), FETCHING(T, fetch, static_cast<T>(0), static_cast<T>(0)))                             \
  OLD(void, N##_set, (T* dest, T value, int pe), PLAIN(T, set, value))                                 \
  OLD(T, N##_swap, (T* dest, T value, int pe), FETCHING(T, swap, value, static_cast<T>(0)))

extern "C" {
RAILSHMEM_FOR_AMO_TYPES(STANDARD)
RAILSHMEM_FOR_AMO_EXTENDED_TYPES(EXTENDED)
RAILSHMEM_FOR_AMO_BITWISE_TYPES(BITWISE)
RAILSHMEM_FOR_OLD_AMO_TYPES(OLD_STANDARD)
RAILSHMEM_FOR_OLD_AMO_EXTENDED_TYPES(OLD_EXTENDED)
}
RAILSHMEM_AMO_FUNCTIONS(RAILSHMEM_WEAK)
RAILSHMEM_OLD_AMO_FUNCTIONS(RAILSHMEM_WEAK)

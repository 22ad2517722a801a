// SPDX-License-Identifier: BSD-3-Clause
//
// C++ overloads under the names of the C11 generics: one per distinct type, without and with a context. An extension;
// each only forwards to the typed C function.
#ifndef RAILSHMEM_SHMEM_GENERIC_CPP_H
#define RAILSHMEM_SHMEM_GENERIC_CPP_H

#include "shmem/device/names/names.h"
#include "shmem/lists.h"

// clang-format off

/// Defines shmem##OP for one type: parameters and arguments are given in parentheses, RAILSHMEM_BARE strips them. In a
/// CUDA unit for kernels too.
#define RAILSHMEM_OVERLOAD(R, OP, N, PARAMETERS, ARGUMENTS) \
  RAILSHMEM_BOTH_SIDES inline R shmem##OP(RAILSHMEM_BARE PARAMETERS) { return shmem_##N##OP(RAILSHMEM_BARE ARGUMENTS); }
#define RAILSHMEM_OVERLOAD_CTX(R, OP, N, PARAMETERS, ARGUMENTS)                                  \
  RAILSHMEM_OVERLOAD(R, OP, N, PARAMETERS, ARGUMENTS)                                            \
  RAILSHMEM_BOTH_SIDES inline R shmem##OP(shmem_ctx_t ctx, RAILSHMEM_BARE PARAMETERS) { return shmem_ctx_##N##OP(ctx, \
      RAILSHMEM_BARE ARGUMENTS); }

/// Shapes of remote memory access.
#define RAILSHMEM_CPP_BLOCK(OP, N, T) \
  RAILSHMEM_OVERLOAD_CTX(void, OP, N, (T* dest, const T* source, size_t nelems, int pe), (dest, source, nelems, pe))
#define RAILSHMEM_CPP_P(OP, N, T) \
  RAILSHMEM_OVERLOAD_CTX(void, OP, N, (T* dest, T value, int pe), (dest, value, pe))
#define RAILSHMEM_CPP_G(OP, N, T) \
  RAILSHMEM_OVERLOAD_CTX(T, OP, N, (const T* source, int pe), (source, pe))
#define RAILSHMEM_CPP_STRIDED(OP, N, T)                                                                       \
  RAILSHMEM_OVERLOAD_CTX(void, OP, N, (T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
      int pe), (dest, source, dst, sst, nelems, pe))
#define RAILSHMEM_CPP_BLOCK_STRIDED(OP, N, T)                                                                \
  RAILSHMEM_OVERLOAD_CTX(void, OP, N, (T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, \
      size_t nblocks, int pe), (dest, source, dst, sst, bsize, nblocks, pe))
#define RAILSHMEM_CPP_PUT_SIGNAL(OP, N, T)                                                          \
  RAILSHMEM_OVERLOAD_CTX(void, OP, N, (T* dest, const T* source, size_t nelems, uint64_t* sig_addr, \
      uint64_t signal, int sig_op, int pe), (dest, source, nelems, sig_addr, signal, sig_op, pe))

/// Shapes of atomics: fetching or plain, with an operand, two or none, blocking or not.
#define RAILSHMEM_CPP_AMO_SET(OP, N, T) \
  RAILSHMEM_OVERLOAD_CTX(void, OP, N, (T* dest, T value, int pe), (dest, value, pe))
#define RAILSHMEM_CPP_AMO_INC(OP, N, T) \
  RAILSHMEM_OVERLOAD_CTX(void, OP, N, (T* dest, int pe), (dest, pe))
#define RAILSHMEM_CPP_AMO_FETCH_OPERAND(OP, N, T)                                 \
  RAILSHMEM_OVERLOAD_CTX(T, OP, N, (T* dest, T value, int pe), (dest, value, pe)) \
  RAILSHMEM_OVERLOAD_CTX(void, OP##_nbi, N, (T* fetch, T* dest, T value, int pe), (fetch, dest, value, pe))
#define RAILSHMEM_CPP_AMO_FETCH_INC(OP, N, T)                     \
  RAILSHMEM_OVERLOAD_CTX(T, OP, N, (T* dest, int pe), (dest, pe)) \
  RAILSHMEM_OVERLOAD_CTX(void, OP##_nbi, N, (T* fetch, T* dest, int pe), (fetch, dest, pe))
#define RAILSHMEM_CPP_AMO_FETCH(OP, N, T)                                   \
  RAILSHMEM_OVERLOAD_CTX(T, OP, N, (const T* source, int pe), (source, pe)) \
  RAILSHMEM_OVERLOAD_CTX(void, OP##_nbi, N, (T* fetch, const T* source, int pe), (fetch, source, pe))
#define RAILSHMEM_CPP_AMO_COMPARE_SWAP(OP, N, T)                                                              \
  RAILSHMEM_OVERLOAD_CTX(T, OP, N, (T* dest, T cond, T value, int pe), (dest, cond, value, pe))               \
  RAILSHMEM_OVERLOAD_CTX(void, OP##_nbi, N, (T* fetch, T* dest, T cond, T value, int pe), (fetch, dest, cond, \
      value, pe))

/// Shapes of waits and tests.
#define RAILSHMEM_CPP_WAIT(OP, N, T) \
  RAILSHMEM_OVERLOAD(void, OP, N, (T* ivar, int cmp, T cmp_value), (ivar, cmp, cmp_value))
#define RAILSHMEM_CPP_TEST(OP, N, T) \
  RAILSHMEM_OVERLOAD(int, OP, N, (T* ivar, int cmp, T cmp_value), (ivar, cmp, cmp_value))
#define RAILSHMEM_CPP_MANY(R, OP, N, T)                                                                             \
  RAILSHMEM_OVERLOAD(R, OP, N, (T* ivars, size_t nelems, const int* status, int cmp, T cmp_value), (ivars, nelems,  \
      status, cmp, cmp_value))                                                                                      \
  RAILSHMEM_OVERLOAD(R, OP##_vector, N, (T* ivars, size_t nelems, const int* status, int cmp, const T* cmp_values), \
      (ivars, nelems, status, cmp, cmp_values))
#define RAILSHMEM_CPP_WAIT_ALL(OP, N, T) RAILSHMEM_CPP_MANY(void, OP, N, T)
#define RAILSHMEM_CPP_TEST_ALL(OP, N, T) RAILSHMEM_CPP_MANY(int, OP, N, T)
#define RAILSHMEM_CPP_ANY(OP, N, T) RAILSHMEM_CPP_MANY(size_t, OP, N, T)
#define RAILSHMEM_CPP_SOME(OP, N, T)                                                                                \
  RAILSHMEM_OVERLOAD(size_t, OP, N, (T* ivars, size_t nelems, size_t* indices, const int* status, int cmp,          \
      T cmp_value), (ivars, nelems, indices, status, cmp, cmp_value))                                               \
  RAILSHMEM_OVERLOAD(size_t, OP##_vector, N, (T* ivars, size_t nelems, size_t* indices, const int* status, int cmp, \
      const T* cmp_values), (ivars, nelems, indices, status, cmp, cmp_values))

/// Shapes of collectives.
#if defined(__CUDACC_RTC__)
#define RAILSHMEM_OVERLOAD_HOST(R, OP, N, PARAMETERS, ARGUMENTS)
#else
#define RAILSHMEM_OVERLOAD_HOST(R, OP, N, PARAMETERS, ARGUMENTS) \
  inline R shmem##OP(RAILSHMEM_BARE PARAMETERS) { return shmem_##N##OP(RAILSHMEM_BARE ARGUMENTS); }
#endif
#define RAILSHMEM_CPP_BROADCAST(OP, N, T)                                                                     \
  RAILSHMEM_OVERLOAD(int, OP, N, (shmem_team_t team, T* dest, const T* source, size_t nelems, int PE_root), (team, \
      dest, source, nelems, PE_root))
#define RAILSHMEM_CPP_TEAM_BLOCK(OP, N, T)                                                                         \
  RAILSHMEM_OVERLOAD(int, OP, N, (shmem_team_t team, T* dest, const T* source, size_t nelems), (team, dest, source, \
      nelems))
#define RAILSHMEM_CPP_TEAM_STRIDED(OP, N, T)                                                                 \
  RAILSHMEM_OVERLOAD(int, OP, N, (shmem_team_t team, T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, \
      size_t nelems), (team, dest, source, dst, sst, nelems))

/// Reductions and scans that only the host has.
#define RAILSHMEM_CPP_HOST_BLOCK(OP, N, T)                                                                          \
  RAILSHMEM_OVERLOAD_HOST(int, OP, N, (shmem_team_t team, T* dest, const T* source, size_t nelems), (team, dest, source, \
      nelems))

/// wait_until on long is already a C function.
#define RAILSHMEM_CPP_WAIT_TYPES(X, A) \
  X(A, int, int)                       \
  X(A, longlong, long long)            \
  X(A, uint, unsigned int)             \
  X(A, ulong, unsigned long)           \
  X(A, ulonglong, unsigned long long)  \
  RAILSHMEM_OLD_P2P_TYPES(X, A)

// clang-format on

extern "C++" {

RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_BLOCK, _put)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_BLOCK, _put_nbi)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_BLOCK, _get)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_BLOCK, _get_nbi)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_P, _p)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_G, _g)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_STRIDED, _iput)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_STRIDED, _iget)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_BLOCK_STRIDED, _ibput)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_BLOCK_STRIDED, _ibget)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_PUT_SIGNAL, _put_signal)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_PUT_SIGNAL, _put_signal_nbi)

RAILSHMEM_AMO_DISTINCT_TYPES(RAILSHMEM_CPP_AMO_COMPARE_SWAP, _atomic_compare_swap)
RAILSHMEM_AMO_DISTINCT_TYPES(RAILSHMEM_CPP_AMO_FETCH_INC, _atomic_fetch_inc)
RAILSHMEM_AMO_DISTINCT_TYPES(RAILSHMEM_CPP_AMO_INC, _atomic_inc)
RAILSHMEM_AMO_DISTINCT_TYPES(RAILSHMEM_CPP_AMO_FETCH_OPERAND, _atomic_fetch_add)
RAILSHMEM_AMO_DISTINCT_TYPES(RAILSHMEM_CPP_AMO_SET, _atomic_add)
RAILSHMEM_AMO_EXTENDED_DISTINCT_TYPES(RAILSHMEM_CPP_AMO_FETCH, _atomic_fetch)
RAILSHMEM_AMO_EXTENDED_DISTINCT_TYPES(RAILSHMEM_CPP_AMO_SET, _atomic_set)
RAILSHMEM_AMO_EXTENDED_DISTINCT_TYPES(RAILSHMEM_CPP_AMO_FETCH_OPERAND, _atomic_swap)
RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES(RAILSHMEM_CPP_AMO_FETCH_OPERAND, _atomic_fetch_and)
RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES(RAILSHMEM_CPP_AMO_SET, _atomic_and)
RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES(RAILSHMEM_CPP_AMO_FETCH_OPERAND, _atomic_fetch_or)
RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES(RAILSHMEM_CPP_AMO_SET, _atomic_or)
RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES(RAILSHMEM_CPP_AMO_FETCH_OPERAND, _atomic_fetch_xor)
RAILSHMEM_AMO_BITWISE_DISTINCT_TYPES(RAILSHMEM_CPP_AMO_SET, _atomic_xor)

RAILSHMEM_CPP_WAIT_TYPES(RAILSHMEM_CPP_WAIT, _wait_until)
RAILSHMEM_CPP_WAIT_TYPES(RAILSHMEM_CPP_TEST, _test)
RAILSHMEM_CPP_TEST(_test, long, long)
RAILSHMEM_AMO_DISTINCT_TYPES(RAILSHMEM_CPP_WAIT_ALL, _wait_until_all)
RAILSHMEM_AMO_DISTINCT_TYPES(RAILSHMEM_CPP_ANY, _wait_until_any)
RAILSHMEM_AMO_DISTINCT_TYPES(RAILSHMEM_CPP_SOME, _wait_until_some)
RAILSHMEM_AMO_DISTINCT_TYPES(RAILSHMEM_CPP_TEST_ALL, _test_all)
RAILSHMEM_AMO_DISTINCT_TYPES(RAILSHMEM_CPP_ANY, _test_any)
RAILSHMEM_AMO_DISTINCT_TYPES(RAILSHMEM_CPP_SOME, _test_some)

RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_BROADCAST, _broadcast)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_TEAM_BLOCK, _collect)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_TEAM_BLOCK, _fcollect)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_TEAM_BLOCK, _alltoall)
RAILSHMEM_RMA_DISTINCT_TYPES(RAILSHMEM_CPP_TEAM_STRIDED, _alltoalls)

RAILSHMEM_REDUCE_BITS_DISTINCT_TYPES(RAILSHMEM_CPP_TEAM_BLOCK, _and_reduce)
RAILSHMEM_REDUCE_BITS_DISTINCT_TYPES(RAILSHMEM_CPP_TEAM_BLOCK, _or_reduce)
RAILSHMEM_REDUCE_BITS_DISTINCT_TYPES(RAILSHMEM_CPP_TEAM_BLOCK, _xor_reduce)
RAILSHMEM_KERNEL_DISTINCT_TYPES(RAILSHMEM_CPP_TEAM_BLOCK, _max_reduce)
RAILSHMEM_HOST_ORDER_TYPES(RAILSHMEM_CPP_HOST_BLOCK, _max_reduce)
RAILSHMEM_KERNEL_DISTINCT_TYPES(RAILSHMEM_CPP_TEAM_BLOCK, _min_reduce)
RAILSHMEM_HOST_ORDER_TYPES(RAILSHMEM_CPP_HOST_BLOCK, _min_reduce)
RAILSHMEM_KERNEL_DISTINCT_TYPES(RAILSHMEM_CPP_TEAM_BLOCK, _sum_reduce)
RAILSHMEM_HOST_SUM_TYPES(RAILSHMEM_CPP_HOST_BLOCK, _sum_reduce)
RAILSHMEM_KERNEL_DISTINCT_TYPES(RAILSHMEM_CPP_TEAM_BLOCK, _prod_reduce)
RAILSHMEM_HOST_SUM_TYPES(RAILSHMEM_CPP_HOST_BLOCK, _prod_reduce)
RAILSHMEM_REDUCE_SUM_DISTINCT_TYPES(RAILSHMEM_CPP_HOST_BLOCK, _sum_inscan)
RAILSHMEM_REDUCE_SUM_DISTINCT_TYPES(RAILSHMEM_CPP_HOST_BLOCK, _sum_exscan)

/// The remaining names are functions for the default context; these overloads add the context.
RAILSHMEM_BOTH_SIDES inline void shmem_signal_add(shmem_ctx_t ctx, uint64_t* sig_addr, uint64_t signal, int pe) {
  shmem_ctx_signal_add(ctx, sig_addr, signal, pe);
}
RAILSHMEM_BOTH_SIDES inline void shmem_signal_set(shmem_ctx_t ctx, uint64_t* sig_addr, uint64_t signal, int pe) {
  shmem_ctx_signal_set(ctx, sig_addr, signal, pe);
}

/// Four arguments are the old active set, a C function.
RAILSHMEM_BOTH_SIDES inline int shmem_sync(shmem_team_t team) {
  return shmem_team_sync(team);
}

}  // extern "C++"

#endif

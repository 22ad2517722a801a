// SPDX-License-Identifier: BSD-3-Clause
//
// Puts that raise a signal on arrival, and the signal words themselves.
#ifndef RAILSHMEM_SHMEM_SIGNAL_H
#define RAILSHMEM_SHMEM_SIGNAL_H

#include "shmem/api.h"
#include "shmem/type_lists.h"
#include "shmem/types.h"

// clang-format off

/// Copies contiguous elements to another PE and then updates a signal word there (OpenSHMEM 1.6, 9.8).
///
/// A PE that sees the update also sees the elements of this put. It need not see an earlier put, unless a fence lies
/// between. sig_op is SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD. nelems counts elements, in the mem form bytes. Completion
/// is that of put; the _nbi form completes, signal included, at quiet.
#define RAILSHMEM_PUT_SIGNAL_PAIR(F, NAME, T)                                                                     \
  RAILSHMEM_CTX_PAIR(F, void, NAME, T* dest, const T* source, size_t nelems, uint64_t* sig_addr, uint64_t signal, \
      int sig_op, int pe)                                                                                         \
  RAILSHMEM_CTX_PAIR(F, void, NAME##_nbi, T* dest, const T* source, size_t nelems, uint64_t* sig_addr,            \
      uint64_t signal, int sig_op, int pe)
#define RAILSHMEM_PUT_SIGNAL_TYPED(F, N, T) RAILSHMEM_PUT_SIGNAL_PAIR(F, N##_put_signal, T)
#define RAILSHMEM_PUT_SIGNAL_SIZED(F, BITS) RAILSHMEM_PUT_SIGNAL_PAIR(F, put##BITS##_signal, void)
#define RAILSHMEM_PUT_SIGNAL_FUNCTIONS(F)            \
  RAILSHMEM_RMA_TYPES(RAILSHMEM_PUT_SIGNAL_TYPED, F) \
  RAILSHMEM_SIZES(RAILSHMEM_PUT_SIGNAL_SIZED, F)     \
  RAILSHMEM_PUT_SIGNAL_PAIR(F, putmem_signal, void)

/// Updates a signal word on another PE without data, and reads this PE's own word (OpenSHMEM 1.6, 9.8).
///
/// signal_add is atomic among signal_add calls, and signal_set among signal_set calls; both complete at quiet.
/// signal_fetch and signal_wait_until act on this PE's word. signal_wait_until blocks and returns the value that ended
/// the wait.
#define RAILSHMEM_SIGNAL_FUNCTIONS(F)                                                   \
  F(void, signal_add, uint64_t* sig_addr, uint64_t signal, int pe)                      \
  F(void, ctx_signal_add, shmem_ctx_t ctx, uint64_t* sig_addr, uint64_t signal, int pe) \
  F(void, signal_set, uint64_t* sig_addr, uint64_t signal, int pe)                      \
  F(void, ctx_signal_set, shmem_ctx_t ctx, uint64_t* sig_addr, uint64_t signal, int pe) \
  F(uint64_t, signal_fetch, const uint64_t* sig_addr)                                   \
  F(uint64_t, signal_wait_until, uint64_t* sig_addr, int cmp, uint64_t cmp_value)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_PUT_SIGNAL_FUNCTIONS(RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_SIGNAL_FUNCTIONS(RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_END_C

#endif

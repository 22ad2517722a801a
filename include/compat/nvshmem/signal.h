// SPDX-License-Identifier: BSD-3-Clause
//
// Puts with a signal, and signals alone.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_SIGNAL_H
#define RAILSHMEM_COMPAT_NVSHMEM_SIGNAL_H

#include "nvshmem/constants.h"

// clang-format off
#define RAILSHMEM_COMPAT_SIGNALS(NAME, CALL, T)                                                                        \
  RAILSHMEM_COMPAT(void, nvshmem_##NAME, (T* dest, const T* source, size_t nelems, uint64_t* sig_addr,                 \
      uint64_t signal, int sig_op, int pe), shmem_##CALL, (dest, source, nelems, sig_addr, signal, sig_op, pe))        \
  RAILSHMEM_COMPAT_SCOPED_SIGNALS(NAME, CALL, T, warp)                                                                 \
  RAILSHMEM_COMPAT_SCOPED_SIGNALS(NAME, CALL, T, block)
#define RAILSHMEM_COMPAT_SCOPED_SIGNALS(NAME, CALL, T, S)                                                              \
  RAILSHMEM_COMPAT_TOGETHER(meet_##S, nvshmemx_##NAME##_##S, (T* dest, const T* source, size_t nelems,                 \
      uint64_t* sig_addr, uint64_t signal, int sig_op, int pe),                                                        \
      shmemx_##CALL##_##S, (dest, source, nelems, sig_addr, signal, sig_op, pe))
#define RAILSHMEM_COMPAT_SIGNAL_PAIR(NAME, CALL, T)                                                                    \
  RAILSHMEM_COMPAT_SIGNALS(NAME, CALL, T)                                                                              \
  RAILSHMEM_COMPAT_SIGNALS(NAME##_nbi, CALL##_nbi, T)
#define RAILSHMEM_COMPAT_SIGNAL_TYPED(A, N, T) RAILSHMEM_COMPAT_SIGNAL_PAIR(N##_put_signal, N##_put_signal, T)
#define RAILSHMEM_COMPAT_SIGNAL_HALF(A, N, T) RAILSHMEM_COMPAT_SIGNAL_PAIR(N##_put_signal, put16_signal, T)
#define RAILSHMEM_COMPAT_SIGNAL_SIZED(A, BITS)                                                                         \
  RAILSHMEM_COMPAT_SIGNAL_PAIR(put##BITS##_signal, put##BITS##_signal, void)
// clang-format on

RAILSHMEM_KERNEL_TYPES(RAILSHMEM_COMPAT_SIGNAL_TYPED, )
RAILSHMEM_SIZES(RAILSHMEM_COMPAT_SIGNAL_SIZED, )
RAILSHMEM_COMPAT_HALF_TYPES(RAILSHMEM_COMPAT_SIGNAL_HALF, )
RAILSHMEM_COMPAT_SIGNAL_PAIR(putmem_signal, putmem_signal, void)

RAILSHMEM_COMPAT(uint64_t, nvshmem_signal_fetch, (const uint64_t* sig_addr), shmem_signal_fetch, (sig_addr))
RAILSHMEM_COMPAT(uint64_t, nvshmem_signal_wait_until, (uint64_t * sig_addr, int cmp, uint64_t cmp_value),
                 shmem_signal_wait_until, (sig_addr, cmp, cmp_value))
RAILSHMEM_COMPAT_SIDES void nvshmemx_signal_op(uint64_t* sig_addr, uint64_t signal, int sig_op, int pe) {
  if (sig_op == NVSHMEM_SIGNAL_ADD) {
    shmem_signal_add(sig_addr, signal, pe);
  } else {
    shmem_signal_set(sig_addr, signal, pe);
  }
}

#endif

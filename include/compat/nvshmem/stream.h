// SPDX-License-Identifier: BSD-3-Clause
//
// Calls in the order of a stream (shmem/stream.h).
#ifndef RAILSHMEM_COMPAT_NVSHMEM_STREAM_H
#define RAILSHMEM_COMPAT_NVSHMEM_STREAM_H

#include "nvshmem/constants.h"

// clang-format off

/// NAME is NVSHMEM's name and CALL ours, both without prefix and ending; cudaStream_t and shmemx_stream_t are one type.
#define RAILSHMEM_COMPAT_STREAM(R, NAME, PARAMETERS, CALL, ARGUMENTS)                                                  \
  RAILSHMEM_COMPAT_HOST R nvshmemx_##NAME##_on_stream PARAMETERS { return shmemx_##CALL##_on_stream ARGUMENTS; }

#define RAILSHMEM_COMPAT_STREAM_BLOCK(NAME, CALL, T)                                                                   \
  RAILSHMEM_COMPAT_STREAM(void, NAME, (T* dest, const T* source, size_t nelems, int pe, shmemx_stream_t cstrm),        \
      CALL, (dest, source, nelems, pe, cstrm))
#define RAILSHMEM_COMPAT_STREAM_MOVES(PUT, GET, OUR_PUT, OUR_GET, T)                                                   \
  RAILSHMEM_COMPAT_STREAM_BLOCK(PUT, OUR_PUT, T)                                                                       \
  RAILSHMEM_COMPAT_STREAM_BLOCK(PUT##_nbi, OUR_PUT##_nbi, T)                                                           \
  RAILSHMEM_COMPAT_STREAM_BLOCK(GET, OUR_GET, T)                                                                       \
  RAILSHMEM_COMPAT_STREAM_BLOCK(GET##_nbi, OUR_GET##_nbi, T)
#define RAILSHMEM_COMPAT_STREAM_STRIDED(NAME, CALL, T)                                                                 \
  RAILSHMEM_COMPAT_STREAM(void, NAME, (T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe,  \
      shmemx_stream_t cstrm), CALL, (dest, source, dst, sst, nelems, pe, cstrm))
#define RAILSHMEM_COMPAT_STREAM_SIGNAL(NAME, CALL, T)                                                                  \
  RAILSHMEM_COMPAT_STREAM(void, NAME, (T* dest, const T* source, size_t nelems, uint64_t* sig_addr, uint64_t signal,   \
      int sig_op, int pe, shmemx_stream_t cstrm), CALL, (dest, source, nelems, sig_addr, signal, sig_op, pe, cstrm))
#define RAILSHMEM_COMPAT_STREAM_SIGNALS(NAME, CALL, T)                                                                 \
  RAILSHMEM_COMPAT_STREAM_SIGNAL(NAME, CALL, T)                                                                        \
  RAILSHMEM_COMPAT_STREAM_SIGNAL(NAME##_nbi, CALL##_nbi, T)
#define RAILSHMEM_COMPAT_STREAM_COLLECT(NAME, CALL, T, C)                                                              \
  RAILSHMEM_COMPAT_STREAM(int, NAME, (nvshmem_team_t team, T* dest, const T* source, size_t nelems,                    \
      shmemx_stream_t cstrm), CALL, (team, (C*)dest, (const C*)source, nelems, cstrm))
#define RAILSHMEM_COMPAT_STREAM_BROADCAST(NAME, CALL, T, C)                                                            \
  RAILSHMEM_COMPAT_STREAM(int, NAME, (nvshmem_team_t team, T* dest, const T* source, size_t nelems, int PE_root,       \
      shmemx_stream_t cstrm), CALL, (team, (C*)dest, (const C*)source, nelems, PE_root, cstrm))
#define RAILSHMEM_COMPAT_STREAM_TEAM(N, M, T, C)                                                                       \
  RAILSHMEM_COMPAT_STREAM_BROADCAST(N##_broadcast, M##_broadcast, T, C)                                                \
  RAILSHMEM_COMPAT_STREAM_COLLECT(N##_fcollect, M##_fcollect, T, C)                                                    \
  RAILSHMEM_COMPAT_STREAM_COLLECT(N##_alltoall, M##_alltoall, T, C)

#define RAILSHMEM_COMPAT_STREAM_TYPED(A, N, T)                                                                         \
  RAILSHMEM_COMPAT_STREAM_MOVES(N##_put, N##_get, N##_put, N##_get, T)                                                 \
  RAILSHMEM_COMPAT_STREAM_SIGNALS(N##_put_signal, N##_put_signal, T)                                                   \
  RAILSHMEM_COMPAT_STREAM_STRIDED(N##_iput, N##_iput, T)                                                               \
  RAILSHMEM_COMPAT_STREAM_STRIDED(N##_iget, N##_iget, T)                                                               \
  RAILSHMEM_COMPAT_STREAM_TEAM(N, N, T, T)                                                                             \
  RAILSHMEM_COMPAT_STREAM(void, N##_p, (T* dest, T value, int pe, shmemx_stream_t cstrm),                              \
      N##_p, (dest, value, pe, cstrm))                                                                                 \
  RAILSHMEM_COMPAT_STREAM(T, N##_g, (const T* source, int pe, shmemx_stream_t cstrm), N##_g, (source, pe, cstrm))
/// Values travel as their bits.
#define RAILSHMEM_COMPAT_STREAM_HALF(A, N, T)                                                                          \
  RAILSHMEM_COMPAT_STREAM_MOVES(N##_put, N##_get, put16, get16, T)                                                     \
  RAILSHMEM_COMPAT_STREAM_STRIDED(N##_iput, iput16, T)                                                                 \
  RAILSHMEM_COMPAT_STREAM_STRIDED(N##_iget, iget16, T)                                                                 \
  RAILSHMEM_COMPAT_HOST void nvshmemx_##N##_p_on_stream(T* dest, T value, int pe, shmemx_stream_t cstrm) {             \
    uint16_t bits;                                                                                                     \
    memcpy(&bits, &value, sizeof bits);                                                                                \
    shmemx_uint16_p_on_stream(reinterpret_cast<uint16_t*>(dest), bits, pe, cstrm);                                     \
  }                                                                                                                    \
  RAILSHMEM_COMPAT_HOST T nvshmemx_##N##_g_on_stream(const T* source, int pe, shmemx_stream_t cstrm) {                 \
    const uint16_t bits = shmemx_uint16_g_on_stream(reinterpret_cast<const uint16_t*>(source), pe, cstrm);             \
    T value;                                                                                                           \
    memcpy((void*)&value, &bits, sizeof value);                                                                        \
    return value;                                                                                                      \
  }                                                                                                                    \
  RAILSHMEM_COMPAT_STREAM_SIGNALS(N##_put_signal, put16_signal, T)                                                     \
  RAILSHMEM_COMPAT_STREAM_TEAM(N, uint16, T, uint16_t)
#define RAILSHMEM_COMPAT_STREAM_SIZED(A, BITS)                                                                         \
  RAILSHMEM_COMPAT_STREAM_MOVES(put##BITS, get##BITS, put##BITS, get##BITS, void)                                      \
  RAILSHMEM_COMPAT_STREAM_STRIDED(iput##BITS, iput##BITS, void)                                                        \
  RAILSHMEM_COMPAT_STREAM_STRIDED(iget##BITS, iget##BITS, void)                                                        \
  RAILSHMEM_COMPAT_STREAM_SIGNALS(put##BITS##_signal, put##BITS##_signal, void)
#define RAILSHMEM_COMPAT_STREAM_WAIT(A, N, T)                                                                          \
  RAILSHMEM_COMPAT_STREAM(void, N##_wait_until, (T* ivar, int cmp, T cmp_value, shmemx_stream_t cstrm),                \
      N##_wait_until, (ivar, cmp, cmp_value, cstrm))                                                                   \
  RAILSHMEM_COMPAT_STREAM(void, N##_wait_until_all, (T* ivars, size_t nelems, const int* status, int cmp,              \
      T cmp_value, shmemx_stream_t cstrm), N##_wait_until_all, (ivars, nelems, status, cmp, cmp_value, cstrm))         \
  RAILSHMEM_COMPAT_STREAM(void, N##_wait_until_all_vector, (T* ivars, size_t nelems, const int* status, int cmp,       \
      const T* cmp_value, shmemx_stream_t cstrm), N##_wait_until_all_vector,                                           \
      (ivars, nelems, status, cmp, cmp_value, cstrm))
#define RAILSHMEM_COMPAT_STREAM_REDUCE(NAME, T)                                                                        \
  RAILSHMEM_COMPAT_STREAM_COLLECT(NAME##_reduce, NAME##_reduce, T, T)                                                  \
  RAILSHMEM_COMPAT_STREAM_COLLECT(NAME##_reducescatter, NAME##_reducescatter, T, T)
#define RAILSHMEM_COMPAT_STREAM_BITS(A, N, T)                                                                          \
  RAILSHMEM_COMPAT_STREAM_REDUCE(N##_and, T)                                                                           \
  RAILSHMEM_COMPAT_STREAM_REDUCE(N##_or, T)                                                                            \
  RAILSHMEM_COMPAT_STREAM_REDUCE(N##_xor, T)
#define RAILSHMEM_COMPAT_STREAM_VALUES(A, N, T)                                                                        \
  RAILSHMEM_COMPAT_STREAM_REDUCE(N##_max, T)                                                                           \
  RAILSHMEM_COMPAT_STREAM_REDUCE(N##_min, T)                                                                           \
  RAILSHMEM_COMPAT_STREAM_REDUCE(N##_sum, T)                                                                           \
  RAILSHMEM_COMPAT_STREAM_REDUCE(N##_prod, T)

// clang-format on

RAILSHMEM_KERNEL_TYPES(RAILSHMEM_COMPAT_STREAM_TYPED, )
RAILSHMEM_COMPAT_HALF_TYPES(RAILSHMEM_COMPAT_STREAM_HALF, )
RAILSHMEM_SIZES(RAILSHMEM_COMPAT_STREAM_SIZED, )
RAILSHMEM_AMO_TYPES(RAILSHMEM_COMPAT_STREAM_WAIT, )
RAILSHMEM_OLD_P2P_TYPES(RAILSHMEM_COMPAT_STREAM_WAIT, )
RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_COMPAT_STREAM_BITS, )
RAILSHMEM_KERNEL_TYPES(RAILSHMEM_COMPAT_STREAM_VALUES, )
RAILSHMEM_COMPAT_STREAM_MOVES(putmem, getmem, putmem, getmem, void)
RAILSHMEM_COMPAT_STREAM_SIGNALS(putmem_signal, putmem_signal, void)
RAILSHMEM_COMPAT_STREAM_BROADCAST(broadcastmem, broadcastmem, void, void)
RAILSHMEM_COMPAT_STREAM_COLLECT(fcollectmem, fcollectmem, void, void)
RAILSHMEM_COMPAT_STREAM_COLLECT(alltoallmem, alltoallmem, void, void)

RAILSHMEM_COMPAT_STREAM(void, signal_op,
                        (uint64_t * sig_addr, uint64_t signal, int sig_op, int pe, shmemx_stream_t cstrm), signal_op,
                        (sig_addr, signal, sig_op, pe, cstrm))
RAILSHMEM_COMPAT_STREAM(void, signal_wait_until,
                        (uint64_t * sig_addr, int cmp, uint64_t cmp_value, shmemx_stream_t cstrm), signal_wait_until,
                        (sig_addr, cmp, cmp_value, cstrm))
RAILSHMEM_COMPAT_STREAM(void, quiet, (shmemx_stream_t cstrm), quiet, (cstrm))
RAILSHMEM_COMPAT_STREAM(void, barrier_all, (shmemx_stream_t cstrm), barrier_all, (cstrm))
RAILSHMEM_COMPAT_STREAM(int, barrier, (nvshmem_team_t team, shmemx_stream_t cstrm), barrier, (team, cstrm))
RAILSHMEM_COMPAT_STREAM(void, sync_all, (shmemx_stream_t cstrm), sync_all, (cstrm))
RAILSHMEM_COMPAT_STREAM(int, team_sync, (nvshmem_team_t team, shmemx_stream_t cstrm), team_sync, (team, cstrm))

#endif

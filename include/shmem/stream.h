// SPDX-License-Identifier: BSD-3-Clause
//
// Calls that happen in the order of a CUDA stream: shmemx_NAME_on_stream. A call's work begins when everything that the
// stream was given before has ended. Host code only; needs no header of CUDA.
//
// All but g return at once, and can be captured into graphs: each replay does the call's work again. The calls need a
// heap in device memory (SHMEM_HEAP_KIND); a call without one ends the job. Copy engines move the bytes for mapped PEs.
// Everything else is a kernel, which needs a place on a multiprocessor when its turn comes; a kernel that waits has one
// block.
#ifndef RAILSHMEM_SHMEM_STREAM_H
#define RAILSHMEM_SHMEM_STREAM_H

#include "shmem/api.h"
#include "shmem/type_lists.h"
#include "shmem/types.h"

/// cudaStream_t of the CUDA runtime and CUstream of its driver; NULL is the default stream of the current device, which
/// must be this PE's.
typedef struct CUstream_st* shmemx_stream_t;

// clang-format off

/// shmem_put, shmem_get and their nbi forms. Once the stream has executed the call, a put's source may be changed, and
/// a get's data is in dest. The nbi forms reach that only after shmemx_quiet_on_stream.
#define RAILSHMEM_STREAM_BLOCK(F, PUT, GET, T)                                                             \
  F(void, PUT##_on_stream, T* dest, const T* source, size_t nelems, int pe, shmemx_stream_t stream)        \
  F(void, PUT##_nbi_on_stream, T* dest, const T* source, size_t nelems, int pe, shmemx_stream_t stream)    \
  F(void, GET##_on_stream, T* dest, const T* source, size_t nelems, int pe, shmemx_stream_t stream)        \
  F(void, GET##_nbi_on_stream, T* dest, const T* source, size_t nelems, int pe, shmemx_stream_t stream)

/// shmem_iput and shmem_iget. This PE's array lies in memory that kernels reach, which plain host memory is not. Where
/// both strides are 1 the array may lie in any memory, as for put and get.
#define RAILSHMEM_STREAM_STRIDED(F, NAME, T)                                                               \
  F(void, NAME##_on_stream, T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe, \
      shmemx_stream_t stream)

/// shmem_put_signal and its nbi form. The signal lies in device memory.
#define RAILSHMEM_STREAM_PUT_SIGNAL(F, NAME, T)                                                            \
  F(void, NAME##_on_stream, T* dest, const T* source, size_t nelems, uint64_t* sig_addr, uint64_t signal,  \
      int sig_op, int pe, shmemx_stream_t stream)                                                          \
  F(void, NAME##_nbi_on_stream, T* dest, const T* source, size_t nelems, uint64_t* sig_addr,               \
      uint64_t signal, int sig_op, int pe, shmemx_stream_t stream)

/// Stores one value; the value is read at the call. There is no form for long double, which no kernel can store.
#define RAILSHMEM_STREAM_VALUE(F, N, T) F(void, N##_p_on_stream, T* dest, T value, int pe, shmemx_stream_t stream)

/// Fetches one value when the stream has done all that it was given before. The caller waits for the value, so the
/// stream must not be in capture.
#define RAILSHMEM_STREAM_FETCH(F, N, T) F(T, N##_g_on_stream, const T* source, int pe, shmemx_stream_t stream)

/// Holds the stream until *ivar, a word of device memory, compares true with cmp_value. The all forms hold it until all
/// of several words do, each compared with cmp_value or, in the vector form, with cmp_values[i]. Where status is not
/// NULL, words whose status is not 0 are left out. status and cmp_values lie in memory that kernels reach, which plain
/// host memory is not. They are read when the stream gets there, at each replay of a graph anew.
#define RAILSHMEM_STREAM_WAIT(F, N, T)                                                                     \
  F(void, N##_wait_until_on_stream, T* ivar, int cmp, T cmp_value, shmemx_stream_t stream)                 \
  F(void, N##_wait_until_all_on_stream, T* ivars, size_t nelems, const int* status, int cmp, T cmp_value,  \
      shmemx_stream_t stream)                                                                              \
  F(void, N##_wait_until_all_vector_on_stream, T* ivars, size_t nelems, const int* status, int cmp,        \
      const T* cmp_values, shmemx_stream_t stream)

/// Collectives. All members put them into streams in one order; dest and source lie in device memory.
#define RAILSHMEM_STREAM_COLLECT(F, NAME, T) \
  F(int, NAME##_on_stream, shmem_team_t team, T* dest, const T* source, size_t nelems, shmemx_stream_t stream)
#define RAILSHMEM_STREAM_BROADCAST(F, NAME, T)                                                     \
  F(int, NAME##_on_stream, shmem_team_t team, T* dest, const T* source, size_t nelems, int PE_root, \
      shmemx_stream_t stream)

/// All that moves elements of one type, or of one size in bits.
#define RAILSHMEM_STREAM_TYPED(F, N, T)                \
  RAILSHMEM_STREAM_BLOCK(F, N##_put, N##_get, T)       \
  RAILSHMEM_STREAM_STRIDED(F, N##_iput, T)             \
  RAILSHMEM_STREAM_STRIDED(F, N##_iget, T)             \
  RAILSHMEM_STREAM_PUT_SIGNAL(F, N##_put_signal, T)    \
  RAILSHMEM_STREAM_BROADCAST(F, N##_broadcast, T)      \
  RAILSHMEM_STREAM_COLLECT(F, N##_fcollect, T)         \
  RAILSHMEM_STREAM_COLLECT(F, N##_alltoall, T)
#define RAILSHMEM_STREAM_SIZED(F, BITS)                    \
  RAILSHMEM_STREAM_BLOCK(F, put##BITS, get##BITS, void)    \
  RAILSHMEM_STREAM_STRIDED(F, iput##BITS, void)            \
  RAILSHMEM_STREAM_STRIDED(F, iget##BITS, void)            \
  RAILSHMEM_STREAM_PUT_SIGNAL(F, put##BITS##_signal, void)

/// Reductions, and those whose result is dealt out (shmem/reducescatter.h).
#define RAILSHMEM_STREAM_REDUCE(F, NAME, T)                \
  RAILSHMEM_STREAM_COLLECT(F, NAME##_reduce, T)            \
  RAILSHMEM_STREAM_COLLECT(F, NAME##_reducescatter, T)
#define RAILSHMEM_STREAM_REDUCE_BITS(F, N, T)  \
  RAILSHMEM_STREAM_REDUCE(F, N##_and, T)       \
  RAILSHMEM_STREAM_REDUCE(F, N##_or, T)        \
  RAILSHMEM_STREAM_REDUCE(F, N##_xor, T)
#define RAILSHMEM_STREAM_REDUCE_VALUES(F, N, T) \
  RAILSHMEM_STREAM_REDUCE(F, N##_max, T)        \
  RAILSHMEM_STREAM_REDUCE(F, N##_min, T)        \
  RAILSHMEM_STREAM_REDUCE(F, N##_sum, T)        \
  RAILSHMEM_STREAM_REDUCE(F, N##_prod, T)

/// Copies in bytes, signals, completion and synchronisation. quiet completes what this PE's kernels and streams have
/// issued. A barrier is a quiet and then a synchronisation of the members.
#define RAILSHMEM_STREAM_UNTYPED(F)                                                                          \
  RAILSHMEM_STREAM_BLOCK(F, putmem, getmem, void)                                                            \
  RAILSHMEM_STREAM_PUT_SIGNAL(F, putmem_signal, void)                                                        \
  RAILSHMEM_STREAM_BROADCAST(F, broadcastmem, void)                                                          \
  RAILSHMEM_STREAM_COLLECT(F, fcollectmem, void)                                                             \
  RAILSHMEM_STREAM_COLLECT(F, alltoallmem, void)                                                             \
  F(void, signal_op_on_stream, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, shmemx_stream_t stream) \
  F(void, signal_wait_until_on_stream, uint64_t* sig_addr, int cmp, uint64_t cmp_value, shmemx_stream_t stream) \
  F(void, quiet_on_stream, shmemx_stream_t stream)                                                           \
  F(void, barrier_all_on_stream, shmemx_stream_t stream)                                                     \
  F(int, barrier_on_stream, shmem_team_t team, shmemx_stream_t stream)                                       \
  F(void, sync_all_on_stream, shmemx_stream_t stream)                                                        \
  F(int, team_sync_on_stream, shmem_team_t team, shmemx_stream_t stream)

/// The whole family.
#define RAILSHMEM_STREAM_FUNCTIONS(F)                              \
  RAILSHMEM_RMA_TYPES(RAILSHMEM_STREAM_TYPED, F)                   \
  RAILSHMEM_SIZES(RAILSHMEM_STREAM_SIZED, F)                       \
  RAILSHMEM_KERNEL_TYPES(RAILSHMEM_STREAM_VALUE, F)                \
  RAILSHMEM_RMA_TYPES(RAILSHMEM_STREAM_FETCH, F)                   \
  RAILSHMEM_AMO_TYPES(RAILSHMEM_STREAM_WAIT, F)                    \
  RAILSHMEM_OLD_P2P_TYPES(RAILSHMEM_STREAM_WAIT, F)                \
  RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_STREAM_REDUCE_BITS, F)     \
  RAILSHMEM_KERNEL_TYPES(RAILSHMEM_STREAM_REDUCE_VALUES, F)        \
  RAILSHMEM_STREAM_UNTYPED(F)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_STREAM_FUNCTIONS(RAILSHMEM_DECLARE_EXTENSION)
RAILSHMEM_END_C

#endif

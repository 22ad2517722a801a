// SPDX-License-Identifier: BSD-3-Clause
//
// Put, get, p, g and the strided ones; for warps and blocks under nvshmemx_NAME_warp and nvshmemx_NAME_block.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_RMA_H
#define RAILSHMEM_COMPAT_NVSHMEM_RMA_H

#include "nvshmem/constants.h"

// clang-format off

/// NAME is NVSHMEM's name and CALL ours, both without prefix; S is warp or block.
#define RAILSHMEM_COMPAT_BLOCK(NAME, CALL, T)                                                                          \
  RAILSHMEM_COMPAT(void, nvshmem_##NAME, (T* dest, const T* source, size_t nelems, int pe),                            \
      shmem_##CALL, (dest, source, nelems, pe))                                                                        \
  RAILSHMEM_COMPAT_SCOPED_BLOCK(NAME, CALL, T, warp)                                                                   \
  RAILSHMEM_COMPAT_SCOPED_BLOCK(NAME, CALL, T, block)
#define RAILSHMEM_COMPAT_SCOPED_BLOCK(NAME, CALL, T, S)                                                                \
  RAILSHMEM_COMPAT_TOGETHER(meet_##S, nvshmemx_##NAME##_##S, (T* dest, const T* source, size_t nelems, int pe),        \
      shmemx_##CALL##_##S, (dest, source, nelems, pe))
#define RAILSHMEM_COMPAT_STRIDED(NAME, CALL, T)                                                                        \
  RAILSHMEM_COMPAT(void, nvshmem_##NAME, (T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,       \
      int pe), shmem_##CALL, (dest, source, dst, sst, nelems, pe))                                                     \
  RAILSHMEM_COMPAT_SCOPED_STRIDED(NAME, CALL, T, warp)                                                                 \
  RAILSHMEM_COMPAT_SCOPED_STRIDED(NAME, CALL, T, block)
#define RAILSHMEM_COMPAT_SCOPED_STRIDED(NAME, CALL, T, S)                                                              \
  RAILSHMEM_COMPAT_TOGETHER(meet_##S, nvshmemx_##NAME##_##S, (T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst,  \
      size_t nelems, int pe), shmemx_##CALL##_##S, (dest, source, dst, sst, nelems, pe))

#define RAILSHMEM_COMPAT_MOVES(PUT, GET, IPUT, IGET, OUR_PUT, OUR_GET, OUR_IPUT, OUR_IGET, T)                          \
  RAILSHMEM_COMPAT_BLOCK(PUT, OUR_PUT, T)                                                                              \
  RAILSHMEM_COMPAT_BLOCK(PUT##_nbi, OUR_PUT##_nbi, T)                                                                  \
  RAILSHMEM_COMPAT_BLOCK(GET, OUR_GET, T)                                                                              \
  RAILSHMEM_COMPAT_BLOCK(GET##_nbi, OUR_GET##_nbi, T)                                                                  \
  RAILSHMEM_COMPAT_STRIDED(IPUT, OUR_IPUT, T)                                                                          \
  RAILSHMEM_COMPAT_STRIDED(IGET, OUR_IGET, T)

#define RAILSHMEM_COMPAT_RMA_TYPED(A, N, T)                                                                            \
  RAILSHMEM_COMPAT_MOVES(N##_put, N##_get, N##_iput, N##_iget, N##_put, N##_get, N##_iput, N##_iget, T)                \
  RAILSHMEM_COMPAT(void, nvshmem_##N##_p, (T* dest, T value, int pe), shmem_##N##_p, (dest, value, pe))                \
  RAILSHMEM_COMPAT(T, nvshmem_##N##_g, (const T* source, int pe), shmem_##N##_g, (source, pe))
#define RAILSHMEM_COMPAT_RMA_SIZED(A, BITS)                                                                            \
  RAILSHMEM_COMPAT_MOVES(put##BITS, get##BITS, iput##BITS, iget##BITS, put##BITS, get##BITS, iput##BITS, iget##BITS,   \
      void)

/// Values travel as their bits.
#define RAILSHMEM_COMPAT_RMA_HALF(A, N, T)                                                                             \
  RAILSHMEM_COMPAT_MOVES(N##_put, N##_get, N##_iput, N##_iget, put16, get16, iput16, iget16, T)                        \
  RAILSHMEM_COMPAT_SIDES void nvshmem_##N##_p(T* dest, T value, int pe) {                                              \
    uint16_t bits;                                                                                                     \
    memcpy(&bits, &value, sizeof bits);                                                                                \
    shmem_uint16_p(reinterpret_cast<uint16_t*>(dest), bits, pe);                                                       \
  }                                                                                                                    \
  RAILSHMEM_COMPAT_SIDES T nvshmem_##N##_g(const T* source, int pe) {                                                  \
    const uint16_t bits = shmem_uint16_g(reinterpret_cast<const uint16_t*>(source), pe);                               \
    T value;                                                                                                           \
    memcpy((void*)&value, &bits, sizeof value);                                                                        \
    return value;                                                                                                      \
  }

// clang-format on

RAILSHMEM_KERNEL_TYPES(RAILSHMEM_COMPAT_RMA_TYPED, )
RAILSHMEM_SIZES(RAILSHMEM_COMPAT_RMA_SIZED, )
RAILSHMEM_COMPAT_HALF_TYPES(RAILSHMEM_COMPAT_RMA_HALF, )
RAILSHMEM_COMPAT_BLOCK(putmem, putmem, void)
RAILSHMEM_COMPAT_BLOCK(putmem_nbi, putmem_nbi, void)
RAILSHMEM_COMPAT_BLOCK(getmem, getmem, void)
RAILSHMEM_COMPAT_BLOCK(getmem_nbi, getmem_nbi, void)

#endif

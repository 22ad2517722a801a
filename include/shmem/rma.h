// SPDX-License-Identifier: BSD-3-Clause
//
// Remote memory access: contiguous blocks, single values, strided elements, strided blocks.
#ifndef RAILSHMEM_SHMEM_RMA_H
#define RAILSHMEM_SHMEM_RMA_H

#include "shmem/api.h"
#include "shmem/type_lists.h"
#include "shmem/types.h"

// clang-format off

/// Copies contiguous elements to or from another PE (OpenSHMEM 1.6, 9.6.1 and 9.6.2).
///
/// nelems counts elements, in the mem forms bytes. A put returns when source may be reused, a get when the elements
/// have arrived. The _nbi forms return at once and complete at quiet; until then source must stay as it is. Two puts
/// are unordered without a fence between them. No elements is no operation, and then dest and source may be NULL.
#define RAILSHMEM_BLOCK_FUNCTIONS(F, PUT, GET, T)                                         \
  RAILSHMEM_CTX_PAIR(F, void, PUT, T* dest, const T* source, size_t nelems, int pe)       \
  RAILSHMEM_CTX_PAIR(F, void, PUT##_nbi, T* dest, const T* source, size_t nelems, int pe) \
  RAILSHMEM_CTX_PAIR(F, void, GET, T* dest, const T* source, size_t nelems, int pe)       \
  RAILSHMEM_CTX_PAIR(F, void, GET##_nbi, T* dest, const T* source, size_t nelems, int pe)

/// Copies one value to or from another PE (OpenSHMEM 1.6, 9.6.1).
///
/// Order and completion are those of a put or a get of one element.
#define RAILSHMEM_VALUE_FUNCTIONS(F, N, T)                     \
  RAILSHMEM_CTX_PAIR(F, void, N##_p, T* dest, T value, int pe) \
  RAILSHMEM_CTX_PAIR(F, T, N##_g, const T* source, int pe)

/// Copies elements that lie dst apart in dest and sst apart in source (OpenSHMEM 1.6, 9.6.1).
///
/// Strides are in elements and at least 1. Order and completion are those of put and get.
#define RAILSHMEM_STRIDED_FUNCTIONS(F, PUT, GET, T)                                                               \
  RAILSHMEM_CTX_PAIR(F, void, PUT, T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) \
  RAILSHMEM_CTX_PAIR(F, void, GET, T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)

/// Copies nblocks blocks of bsize elements that lie dst apart in dest and sst apart in source (OpenSHMEM 1.6, 9.6.1).
///
/// Strides run from block start to block start, in elements, and are at least bsize. Order and completion are those of
/// put and get.
#define RAILSHMEM_BLOCK_STRIDED_FUNCTIONS(F, PUT, GET, T)                                                \
  RAILSHMEM_CTX_PAIR(F, void, PUT, T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, \
      size_t nblocks, int pe)                                                                            \
  RAILSHMEM_CTX_PAIR(F, void, GET, T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, \
      size_t nblocks, int pe)

/// Everything above for one type, and for one element size in bits.
#define RAILSHMEM_RMA_TYPED(F, N, T)                    \
  RAILSHMEM_BLOCK_FUNCTIONS(F, N##_put, N##_get, T)     \
  RAILSHMEM_VALUE_FUNCTIONS(F, N, T)                    \
  RAILSHMEM_STRIDED_FUNCTIONS(F, N##_iput, N##_iget, T) \
  RAILSHMEM_BLOCK_STRIDED_FUNCTIONS(F, N##_ibput, N##_ibget, T)
#define RAILSHMEM_RMA_SIZED(F, BITS)                           \
  RAILSHMEM_BLOCK_FUNCTIONS(F, put##BITS, get##BITS, void)     \
  RAILSHMEM_STRIDED_FUNCTIONS(F, iput##BITS, iget##BITS, void) \
  RAILSHMEM_BLOCK_STRIDED_FUNCTIONS(F, ibput##BITS, ibget##BITS, void)

/// The whole family.
#define RAILSHMEM_RMA_FUNCTIONS(F)            \
  RAILSHMEM_RMA_TYPES(RAILSHMEM_RMA_TYPED, F) \
  RAILSHMEM_SIZES(RAILSHMEM_RMA_SIZED, F)     \
  RAILSHMEM_BLOCK_FUNCTIONS(F, putmem, getmem, void)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_RMA_FUNCTIONS(RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_END_C

#endif

// SPDX-License-Identifier: BSD-3-Clause
// Remote memory access: every name of include/shmem/rma.h.
#include "src/api/alias.h"
#include "src/api/call.h"
#include "src/rma/put_get.h"
#include "src/rma/strided.h"

using namespace railshmem;

// clang-format off
#define CALL(OPERATION, NAME, DEST, SOURCE, ELEMENT) \
  OPERATION(state, context, NAME, DEST, SOURCE, total_bytes(NAME, nelems, ELEMENT, pe), pe)

#define BLOCK(FUNCTION, OPERATION, T, ELEMENT)                                                                  \
  void pshmem_##FUNCTION(T* dest, const T* source, size_t nelems, int pe) {                                     \
    RAILSHMEM_ENTER("shmem_" #FUNCTION);                                                                        \
    CALL(OPERATION, "shmem_" #FUNCTION, dest, source, ELEMENT);                                                 \
  }                                                                                                             \
  void pshmem_ctx_##FUNCTION(shmem_ctx_t ctx, T* dest, const T* source, size_t nelems, int pe) {                \
    RAILSHMEM_ENTER_CTX("shmem_ctx_" #FUNCTION);                                                                \
    CALL(OPERATION, "shmem_ctx_" #FUNCTION, dest, source, ELEMENT);                                             \
  }
#define BLOCKS(PUT, GET, T, ELEMENT)       \
  BLOCK(PUT, put, T, ELEMENT)              \
  BLOCK(PUT##_nbi, put_nbi, T, ELEMENT)    \
  BLOCK(GET, get, T, ELEMENT)              \
  BLOCK(GET##_nbi, get_nbi, T, ELEMENT)

#define STRIDED(FUNCTION, OPERATION, T, ELEMENT)                                                                     \
  void pshmem_##FUNCTION(T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) {           \
    RAILSHMEM_ENTER("shmem_" #FUNCTION);                                                                            \
    OPERATION(state, context, "shmem_" #FUNCTION, dest, source, Strides{dst, sst, ELEMENT, 1, nelems}, pe);         \
  }                                                                                                                 \
  void pshmem_ctx_##FUNCTION(shmem_ctx_t ctx, T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                             int pe) {                                                                              \
    RAILSHMEM_ENTER_CTX("shmem_ctx_" #FUNCTION);                                                                    \
    OPERATION(state, context, "shmem_ctx_" #FUNCTION, dest, source, Strides{dst, sst, ELEMENT, 1, nelems}, pe);     \
  }
#define BLOCK_STRIDED(FUNCTION, OPERATION, T, ELEMENT)                                                                \
  void pshmem_##FUNCTION(T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,       \
                         int pe) {                                                                                   \
    RAILSHMEM_ENTER("shmem_" #FUNCTION);                                                                             \
    OPERATION(state, context, "shmem_" #FUNCTION, dest, source, Strides{dst, sst, ELEMENT, bsize, nblocks}, pe);     \
  }                                                                                                                  \
  void pshmem_ctx_##FUNCTION(shmem_ctx_t ctx, T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,  \
                             size_t nblocks, int pe) {                                                               \
    RAILSHMEM_ENTER_CTX("shmem_ctx_" #FUNCTION);                                                                     \
    OPERATION(state, context, "shmem_ctx_" #FUNCTION, dest, source, Strides{dst, sst, ELEMENT, bsize, nblocks}, pe); \
  }
#define STRIDEDS(N, T, ELEMENT_PUT, ELEMENT_GET, BLOCK_PUT, BLOCK_GET) \
  STRIDED(ELEMENT_PUT, strided_put, T, N)                              \
  STRIDED(ELEMENT_GET, strided_get, T, N)                              \
  BLOCK_STRIDED(BLOCK_PUT, strided_put, T, N)                          \
  BLOCK_STRIDED(BLOCK_GET, strided_get, T, N)

#define VALUE(N, T)                                                              \
  void pshmem_##N##_p(T* dest, T value, int pe) {                                \
    RAILSHMEM_ENTER("shmem_" #N "_p");                                           \
    put_value<T>(state, context, "shmem_" #N "_p", dest, value, pe);             \
  }                                                                              \
  void pshmem_ctx_##N##_p(shmem_ctx_t ctx, T* dest, T value, int pe) {           \
    RAILSHMEM_ENTER_CTX("shmem_ctx_" #N "_p");                                   \
    put_value<T>(state, context, "shmem_ctx_" #N "_p", dest, value, pe);         \
  }                                                                              \
  T pshmem_##N##_g(const T* source, int pe) {                                    \
    RAILSHMEM_ENTER("shmem_" #N "_g");                                           \
    return get_value<T>(state, context, "shmem_" #N "_g", source, pe);           \
  }                                                                              \
  T pshmem_ctx_##N##_g(shmem_ctx_t ctx, const T* source, int pe) {               \
    RAILSHMEM_ENTER_CTX("shmem_ctx_" #N "_g");                                   \
    return get_value<T>(state, context, "shmem_ctx_" #N "_g", source, pe);       \
  }

#define TYPED(N, T)                                                           \
  BLOCKS(N##_put, N##_get, T, sizeof(T))                                      \
  VALUE(N, T)                                                                 \
  STRIDEDS(sizeof(T), T, N##_iput, N##_iget, N##_ibput, N##_ibget)
#define SIZED(BITS)                                                           \
  BLOCKS(put##BITS, get##BITS, void, BITS / 8)                                \
  STRIDEDS(BITS / 8, void, iput##BITS, iget##BITS, ibput##BITS, ibget##BITS)

extern "C" {
RAILSHMEM_FOR_RMA_TYPES(TYPED)
RAILSHMEM_FOR_SIZES(SIZED)
BLOCKS(putmem, getmem, void, 1)
}
RAILSHMEM_RMA_FUNCTIONS(RAILSHMEM_WEAK)

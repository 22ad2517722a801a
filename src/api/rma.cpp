// SPDX-License-Identifier: BSD-3-Clause
// Remote memory access: every name of include/shmem/rma.h.
#include "src/api/alias.h"
#include "src/api/call.h"
#include "src/api/probe.h"
#include "src/rma/put_get.h"
#include "src/rma/strided.h"

using namespace railshmem;

// clang-format off
// What SHMEM_TRACE and SHMEM_CHECK want to know of each operation: its kind, the symmetric side, this PE's side.
#define SIDES_put(DEST, SOURCE) DEST, SOURCE
#define SIDES_get(DEST, SOURCE) SOURCE, DEST
#define SYMMETRIC_put(DEST, SOURCE) DEST
#define SYMMETRIC_get(DEST, SOURCE) SOURCE
#define OBSERVE_STRIDED(WAY, NAME, NBYTES) RAILSHMEM_PROBE(WAY, NAME, NBYTES, pe, SYMMETRIC_##WAY(dest, source))

#define CALL(OPERATION, WAY, NAME, ELEMENT)                     \
  const size_t nbytes = total_bytes(NAME, nelems, ELEMENT, pe); \
  RAILSHMEM_OBSERVED(WAY, OPERATION, NAME, (nbytes, pe, SIDES_##WAY(dest, source)), dest, source, nbytes, pe)

#define BLOCK(FUNCTION, OPERATION, WAY, T, ELEMENT)                                              \
  void pshmem_##FUNCTION(T* dest, const T* source, size_t nelems, int pe) {                      \
    RAILSHMEM_ENTER("shmem_" #FUNCTION);                                                         \
    CALL(OPERATION, WAY, "shmem_" #FUNCTION, ELEMENT);                                           \
  }                                                                                              \
  void pshmem_ctx_##FUNCTION(shmem_ctx_t ctx, T* dest, const T* source, size_t nelems, int pe) { \
    RAILSHMEM_ENTER_CTX("shmem_ctx_" #FUNCTION);                                                 \
    CALL(OPERATION, WAY, "shmem_ctx_" #FUNCTION, ELEMENT);                                       \
  }
#define BLOCKS(PUT, GET, T, ELEMENT)         \
  BLOCK(PUT, put, put, T, ELEMENT)           \
  BLOCK(PUT##_nbi, put_nbi, put, T, ELEMENT) \
  BLOCK(GET, get, get, T, ELEMENT)           \
  BLOCK(GET##_nbi, get_nbi, get, T, ELEMENT)

#define STRIDED(FUNCTION, WAY, T, ELEMENT)                                                                           \
  void pshmem_##FUNCTION(T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) {            \
    RAILSHMEM_ENTER("shmem_" #FUNCTION);                                                                             \
    OBSERVE_STRIDED(WAY, "shmem_" #FUNCTION, ELEMENT * nelems);                                                      \
    strided_##WAY(state, context, "shmem_" #FUNCTION, dest, source, Strides{dst, sst, ELEMENT, 1, nelems}, pe);      \
  }                                                                                                                  \
  void pshmem_ctx_##FUNCTION(shmem_ctx_t ctx, T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                             int pe) {                                                                               \
    RAILSHMEM_ENTER_CTX("shmem_ctx_" #FUNCTION);                                                                     \
    OBSERVE_STRIDED(WAY, "shmem_ctx_" #FUNCTION, ELEMENT * nelems);                                                  \
    strided_##WAY(state, context, "shmem_ctx_" #FUNCTION, dest, source, Strides{dst, sst, ELEMENT, 1, nelems}, pe);  \
  }
#define BLOCK_STRIDED(FUNCTION, WAY, T, ELEMENT)                                                                         \
  void pshmem_##FUNCTION(T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,           \
                         int pe) {                                                                                       \
    RAILSHMEM_ENTER("shmem_" #FUNCTION);                                                                                 \
    OBSERVE_STRIDED(WAY, "shmem_" #FUNCTION, ELEMENT * bsize * nblocks);                                                 \
    strided_##WAY(state, context, "shmem_" #FUNCTION, dest, source, Strides{dst, sst, ELEMENT, bsize, nblocks}, pe);     \
  }                                                                                                                      \
  void pshmem_ctx_##FUNCTION(shmem_ctx_t ctx, T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,      \
                             size_t nblocks, int pe) {                                                                   \
    RAILSHMEM_ENTER_CTX("shmem_ctx_" #FUNCTION);                                                                         \
    OBSERVE_STRIDED(WAY, "shmem_ctx_" #FUNCTION, ELEMENT * bsize * nblocks);                                             \
    strided_##WAY(state, context, "shmem_ctx_" #FUNCTION, dest, source, Strides{dst, sst, ELEMENT, bsize, nblocks}, pe); \
  }
#define STRIDEDS(N, T, ELEMENT_PUT, ELEMENT_GET, BLOCK_PUT, BLOCK_GET) \
  STRIDED(ELEMENT_PUT, put, T, N)                                      \
  STRIDED(ELEMENT_GET, get, T, N)                                      \
  BLOCK_STRIDED(BLOCK_PUT, put, T, N)                                  \
  BLOCK_STRIDED(BLOCK_GET, get, T, N)

#define VALUE(N, T)                                                                                      \
  void pshmem_##N##_p(T* dest, T value, int pe) {                                                        \
    RAILSHMEM_ENTER("shmem_" #N "_p");                                                                   \
    RAILSHMEM_OBSERVED(put, put_value<T>, "shmem_" #N "_p", (sizeof(T), pe, dest), dest, value, pe);     \
  }                                                                                                      \
  void pshmem_ctx_##N##_p(shmem_ctx_t ctx, T* dest, T value, int pe) {                                   \
    RAILSHMEM_ENTER_CTX("shmem_ctx_" #N "_p");                                                           \
    RAILSHMEM_OBSERVED(put, put_value<T>, "shmem_ctx_" #N "_p", (sizeof(T), pe, dest), dest, value, pe); \
  }                                                                                                      \
  T pshmem_##N##_g(const T* source, int pe) {                                                            \
    RAILSHMEM_ENTER("shmem_" #N "_g");                                                                   \
    RAILSHMEM_OBSERVED(get, get_value<T>, "shmem_" #N "_g", (sizeof(T), pe, source), source, pe);        \
  }                                                                                                      \
  T pshmem_ctx_##N##_g(shmem_ctx_t ctx, const T* source, int pe) {                                       \
    RAILSHMEM_ENTER_CTX("shmem_ctx_" #N "_g");                                                           \
    RAILSHMEM_OBSERVED(get, get_value<T>, "shmem_ctx_" #N "_g", (sizeof(T), pe, source), source, pe);    \
  }

#define TYPED(N, T)                      \
  BLOCKS(N##_put, N##_get, T, sizeof(T)) \
  VALUE(N, T)                            \
  STRIDEDS(sizeof(T), T, N##_iput, N##_iget, N##_ibput, N##_ibget)
#define SIZED(BITS)                            \
  BLOCKS(put##BITS, get##BITS, void, BITS / 8) \
  STRIDEDS(BITS / 8, void, iput##BITS, iget##BITS, ibput##BITS, ibget##BITS)

extern "C" {
RAILSHMEM_FOR_RMA_TYPES(TYPED)
RAILSHMEM_FOR_SIZES(SIZED)
BLOCKS(putmem, getmem, void, 1)
#undef TYPED
#undef SIZED
#undef BLOCKS
#undef BLOCK
#undef VALUE
#undef CALL
}
RAILSHMEM_RMA_FUNCTIONS(RAILSHMEM_WEAK)

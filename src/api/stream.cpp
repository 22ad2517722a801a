// SPDX-License-Identifier: BSD-3-Clause
// Stream-ordered calls: every name of include/shmem/stream.h.
#include "src/api/stream_calls.h"
#include "src/collective/reduce_ops.h"

using namespace railshmem;

namespace {

/// The bytes of a value, in the low ones of a word.
template <class T>
uint64_t bits_of(T value) noexcept {
  uint64_t bits = 0;
  static_assert(sizeof value <= sizeof bits);
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}

}  // namespace

// clang-format off
#define CALL(NAME) OnStream("shmemx_" #NAME "_on_stream", stream)
#define BLOCK(PUT, GET, T, BYTES)                                                                                   \
  void shmemx_##PUT##_on_stream(T* dest, const T* source, size_t nelems, int pe, shmemx_stream_t stream) {          \
    CALL(PUT).put(dest, source, nelems, BYTES, pe, false);                                                          \
  }                                                                                                                 \
  void shmemx_##PUT##_nbi_on_stream(T* dest, const T* source, size_t nelems, int pe, shmemx_stream_t stream) {      \
    CALL(PUT##_nbi).put(dest, source, nelems, BYTES, pe, true);                                                     \
  }                                                                                                                 \
  void shmemx_##GET##_on_stream(T* dest, const T* source, size_t nelems, int pe, shmemx_stream_t stream) {          \
    CALL(GET).get(dest, source, nelems, BYTES, pe, false);                                                          \
  }                                                                                                                 \
  void shmemx_##GET##_nbi_on_stream(T* dest, const T* source, size_t nelems, int pe, shmemx_stream_t stream) {      \
    CALL(GET##_nbi).get(dest, source, nelems, BYTES, pe, true);                                                     \
  }
#define APART(IPUT, IGET, T, BYTES)                                                                                 \
  void shmemx_##IPUT##_on_stream(T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe,     \
                                 shmemx_stream_t stream) {                                                          \
    CALL(IPUT).iput(dest, source, {dst, sst, BYTES, 1, nelems}, pe);                                                \
  }                                                                                                                 \
  void shmemx_##IGET##_on_stream(T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe,     \
                                 shmemx_stream_t stream) {                                                          \
    CALL(IGET).iget(dest, source, {dst, sst, BYTES, 1, nelems}, pe);                                                \
  }
#define PUT_SIGNAL(NAME, T, BYTES)                                                                                  \
  void shmemx_##NAME##_on_stream(T* dest, const T* source, size_t nelems, uint64_t* sig_addr, uint64_t signal,      \
                                 int sig_op, int pe, shmemx_stream_t stream) {                                      \
    CALL(NAME).put_signal(dest, source, nelems, BYTES, {sig_addr, signal, sig_op}, pe, false);                      \
  }                                                                                                                 \
  void shmemx_##NAME##_nbi_on_stream(T* dest, const T* source, size_t nelems, uint64_t* sig_addr, uint64_t signal,  \
                                     int sig_op, int pe, shmemx_stream_t stream) {                                  \
    CALL(NAME##_nbi).put_signal(dest, source, nelems, BYTES, {sig_addr, signal, sig_op}, pe, true);                 \
  }
#define TEAM_DATA(BROADCAST, FCOLLECT, ALLTOALL, T, BYTES)                                                          \
  int shmemx_##BROADCAST##_on_stream(shmem_team_t team, T* dest, const T* source, size_t nelems, int PE_root,       \
                                     shmemx_stream_t stream) {                                                      \
    return CALL(BROADCAST).broadcast(team, dest, source, nelems, BYTES, PE_root);                                   \
  }                                                                                                                 \
  int shmemx_##FCOLLECT##_on_stream(shmem_team_t team, T* dest, const T* source, size_t nelems,                     \
                                    shmemx_stream_t stream) {                                                       \
    return CALL(FCOLLECT).fcollect(team, dest, source, nelems, BYTES);                                              \
  }                                                                                                                 \
  int shmemx_##ALLTOALL##_on_stream(shmem_team_t team, T* dest, const T* source, size_t nelems,                     \
                                    shmemx_stream_t stream) {                                                       \
    return CALL(ALLTOALL).alltoall(team, dest, source, nelems, BYTES);                                              \
  }
#define TYPED(A, N, T)                                                    \
  BLOCK(N##_put, N##_get, T, sizeof(T))                                   \
  APART(N##_iput, N##_iget, T, sizeof(T))                                 \
  PUT_SIGNAL(N##_put_signal, T, sizeof(T))                                \
  TEAM_DATA(N##_broadcast, N##_fcollect, N##_alltoall, T, sizeof(T))
#define SIZED(A, BITS)                                                    \
  BLOCK(put##BITS, get##BITS, void, BITS / 8)                             \
  APART(iput##BITS, iget##BITS, void, BITS / 8)                           \
  PUT_SIGNAL(put##BITS##_signal, void, BITS / 8)
#define VALUE(A, N, T)                                                                          \
  void shmemx_##N##_p_on_stream(T* dest, T value, int pe, shmemx_stream_t stream) {             \
    CALL(N##_p).store(dest, bits_of(value), sizeof(T), pe);                                     \
  }
#define FETCH(A, N, T)                                                                          \
  T shmemx_##N##_g_on_stream(const T* source, int pe, shmemx_stream_t stream) {                 \
    return CALL(N##_g).fetch(source, pe);                                                       \
  }
#define WAIT(A, N, T)                                                                                          \
  void shmemx_##N##_wait_until_on_stream(T* ivar, int cmp, T cmp_value, shmemx_stream_t stream) {              \
    CALL(N##_wait_until).wait(ivar, type_kind<T>(), sizeof(T), cmp, static_cast<uint64_t>(cmp_value));         \
  }                                                                                                            \
  void shmemx_##N##_wait_until_all_on_stream(T* ivars, size_t nelems, const int* status, int cmp, T cmp_value, \
                                             shmemx_stream_t stream) {                                         \
    CALL(N##_wait_until_all)                                                                                   \
        .wait_all({ivars, nelems, status, cmp, nullptr, static_cast<uint64_t>(cmp_value)}, type_kind<T>(), sizeof(T)); \
  }                                                                                                            \
  void shmemx_##N##_wait_until_all_vector_on_stream(T* ivars, size_t nelems, const int* status, int cmp,       \
                                                    const T* cmp_values, shmemx_stream_t stream) {             \
    CALL(N##_wait_until_all_vector)                                                                            \
        .wait_all({ivars, nelems, status, cmp, cmp_values, 0}, type_kind<T>(), sizeof(T));                     \
  }
#define REDUCE(N, T, NAME, OP)                                                                                 \
  int shmemx_##N##_##NAME##_reduce_on_stream(shmem_team_t team, T* dest, const T* source, size_t nelems,       \
                                             shmemx_stream_t stream) {                                         \
    return CALL(N##_##NAME##_reduce).reduce(team, dest, source, nelems, sizeof(T), ReduceOp::OP, type_kind<T>()); \
  }
#define SCATTER(N, T, NAME, OP)                                                                                \
  int shmemx_##N##_##NAME##_reducescatter_on_stream(shmem_team_t team, T* dest, const T* source, size_t nelems, \
                                                    shmemx_stream_t stream) {                                  \
    return CALL(N##_##NAME##_reducescatter)                                                                    \
        .reducescatter(team, dest, source, nelems, sizeof(T), ReduceOp::OP, type_kind<T>());                   \
  }
#define REDUCTION(N, T, NAME, OP) REDUCE(N, T, NAME, OP) SCATTER(N, T, NAME, OP)
#define BITS(A, N, T) REDUCTION(N, T, and, bit_and) REDUCTION(N, T, or, bit_or) REDUCTION(N, T, xor, bit_xor)
#define VALUES(A, N, T)                                 \
  REDUCTION(N, T, max, max) REDUCTION(N, T, min, min)   \
  REDUCTION(N, T, sum, sum) REDUCTION(N, T, prod, prod)
// clang-format on

extern "C" {

RAILSHMEM_RMA_TYPES(TYPED, )
RAILSHMEM_SIZES(SIZED, )
RAILSHMEM_KERNEL_TYPES(VALUE, )
RAILSHMEM_RMA_TYPES(FETCH, )
RAILSHMEM_AMO_TYPES(WAIT, )
RAILSHMEM_OLD_P2P_TYPES(WAIT, )
RAILSHMEM_REDUCE_BITS_TYPES(BITS, )
RAILSHMEM_KERNEL_TYPES(VALUES, )
BLOCK(putmem, getmem, void, 1)
PUT_SIGNAL(putmem_signal, void, 1)
TEAM_DATA(broadcastmem, fcollectmem, alltoallmem, void, 1)

void shmemx_signal_op_on_stream(uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, shmemx_stream_t stream) {
  CALL(signal_op).signal({sig_addr, signal, sig_op}, pe);
}

void shmemx_signal_wait_until_on_stream(uint64_t* sig_addr, int cmp, uint64_t cmp_value, shmemx_stream_t stream) {
  CALL(signal_wait_until).wait(sig_addr, TypeKind::u64, sizeof(uint64_t), cmp, cmp_value);
}

void shmemx_quiet_on_stream(shmemx_stream_t stream) {
  CALL(quiet).quiet();
}

void shmemx_barrier_all_on_stream(shmemx_stream_t stream) {
  CALL(barrier_all).meet(SHMEM_TEAM_WORLD, cuda::StreamStep::barrier);
}

int shmemx_barrier_on_stream(shmem_team_t team, shmemx_stream_t stream) {
  return CALL(barrier).meet(team, cuda::StreamStep::barrier);
}

void shmemx_sync_all_on_stream(shmemx_stream_t stream) {
  CALL(sync_all).meet(SHMEM_TEAM_WORLD, cuda::StreamStep::sync);
}

int shmemx_team_sync_on_stream(shmem_team_t team, shmemx_stream_t stream) {
  return CALL(team_sync).meet(team, cuda::StreamStep::sync);
}
}

#undef CALL
#undef BLOCK
#undef APART
#undef PUT_SIGNAL
#undef TEAM_DATA
#undef TYPED
#undef SIZED
#undef VALUE
#undef FETCH
#undef WAIT
#undef REDUCE
#undef SCATTER
#undef REDUCTION
#undef BITS
#undef VALUES

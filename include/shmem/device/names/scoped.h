// SPDX-License-Identifier: BSD-3-Clause
// Calls that all threads of a warp or a block make together, with equal arguments: shmemx_NAME_warp, shmemx_NAME_block.
//
// NAME is a name of the standard: every put, get, put_signal, iput and iget with and without _nbi and ctx_, team_sync,
// sync_all, barrier_all, and the collectives of teams. In kernels only.
#ifndef SHMEM_DEVICE_NAMES_SCOPED_H
#define SHMEM_DEVICE_NAMES_SCOPED_H

#include "shmem/device/names/reduce.h"
#include "shmem/device/names/rma.h"
#include "shmem/device/names/signal.h"

#if defined(RAILSHMEM_KERNEL_NAMES)

namespace railshmem {
namespace device {

// One argument each, because a comma would end an argument of the macros below.
template <class Scope>
struct MoverBy {
  template <size_t kBytes>
  using Of = Mover<kBytes, Scope>;
};
template <class Scope>
struct SignallerBy {
  template <size_t kBytes>
  using Of = Signaller<kBytes, Scope>;
};
template <class Scope>
struct TeamMoverBy {
  template <size_t kBytes>
  using Of = TeamMover<kBytes, Scope>;
};

}  // namespace device
}  // namespace railshmem

// clang-format off
#define RAILSHMEM_SCOPED_BLOCK(NAME, S, T, CALL)                                                                       \
  RAILSHMEM_ONLY_KERNEL_CTX(void, NAME##S, (T* dest, const T* source, size_t nelems, int pe),                          \
      (dest, source, nelems, pe), CALL)
#define RAILSHMEM_SCOPED_STRIDED(NAME, S, T, CALL)                                                                     \
  RAILSHMEM_ONLY_KERNEL_CTX(void, NAME##S, (T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,     \
      int pe), (dest, source, dst, sst, nelems, pe), CALL)
#define RAILSHMEM_SCOPED_SIGNAL(NAME, S, T, CALL)                                                                      \
  RAILSHMEM_ONLY_KERNEL_CTX(void, NAME##S, (T* dest, const T* source, size_t nelems, uint64_t* sig_addr,               \
      uint64_t signal, int sig_op, int pe), (dest, source, nelems, sig_addr, signal, sig_op, pe), CALL)
#define RAILSHMEM_SCOPED_RMA(PUT, GET, IPUT, IGET, S, T, MOVER)                                                        \
  RAILSHMEM_SCOPED_BLOCK(PUT, S, T, (MOVER::put))                                                                      \
  RAILSHMEM_SCOPED_BLOCK(PUT##_nbi, S, T, (MOVER::put_nbi))                                                            \
  RAILSHMEM_SCOPED_BLOCK(GET, S, T, (MOVER::get))                                                                      \
  RAILSHMEM_SCOPED_BLOCK(GET##_nbi, S, T, (MOVER::get_nbi))                                                            \
  RAILSHMEM_SCOPED_STRIDED(IPUT, S, T, (MOVER::iput))                                                                  \
  RAILSHMEM_SCOPED_STRIDED(IGET, S, T, (MOVER::iget))
#define RAILSHMEM_SCOPED_PUT_SIGNAL(NAME, S, T, SIGNALLER)                                                             \
  RAILSHMEM_SCOPED_SIGNAL(NAME, S, T, (SIGNALLER::put_signal))                                                         \
  RAILSHMEM_SCOPED_SIGNAL(NAME##_nbi, S, T, (SIGNALLER::put_signal_nbi))
#define RAILSHMEM_SCOPED_COLLECT(NAME, S, T, CALL)                                                                     \
  RAILSHMEM_ONLY_KERNEL(int, NAME##S, (shmem_team_t team, T* dest, const T* source, size_t nelems),                    \
      (CALL(team, dest, source, nelems)))
#define RAILSHMEM_SCOPED_TEAM(N, S, T, MOVER)                                                                          \
  RAILSHMEM_ONLY_KERNEL(int, N##broadcast##S, (shmem_team_t team, T* dest, const T* source, size_t nelems,             \
      int PE_root), (MOVER::broadcast(team, dest, source, nelems, PE_root)))                                           \
  RAILSHMEM_SCOPED_COLLECT(N##collect##S, , T, MOVER::collect)                                                         \
  RAILSHMEM_SCOPED_COLLECT(N##fcollect##S, , T, MOVER::fcollect)                                                       \
  RAILSHMEM_SCOPED_COLLECT(N##alltoall##S, , T, MOVER::alltoall)                                                       \
  RAILSHMEM_ONLY_KERNEL(int, N##alltoalls##S, (shmem_team_t team, T* dest, const T* source, ptrdiff_t dst,             \
      ptrdiff_t sst, size_t nelems), (MOVER::alltoalls(team, dest, source, dst, sst, nelems)))
#define RAILSHMEM_SCOPED_BITS(N, S, T, SCOPE)                                                                          \
  RAILSHMEM_SCOPED_COLLECT(N##_and_reduce, S, T, (RAILSHMEM_REDUCER(And, SCOPE)))                                      \
  RAILSHMEM_SCOPED_COLLECT(N##_or_reduce, S, T, (RAILSHMEM_REDUCER(Or, SCOPE)))                                        \
  RAILSHMEM_SCOPED_COLLECT(N##_xor_reduce, S, T, (RAILSHMEM_REDUCER(Xor, SCOPE)))
#define RAILSHMEM_SCOPED_VALUES(N, S, T, SCOPE)                                                                        \
  RAILSHMEM_SCOPED_COLLECT(N##_max_reduce, S, T, (RAILSHMEM_REDUCER(Max, SCOPE)))                                      \
  RAILSHMEM_SCOPED_COLLECT(N##_min_reduce, S, T, (RAILSHMEM_REDUCER(Min, SCOPE)))                                      \
  RAILSHMEM_SCOPED_COLLECT(N##_sum_reduce, S, T, (RAILSHMEM_REDUCER(Sum, SCOPE)))                                      \
  RAILSHMEM_SCOPED_COLLECT(N##_prod_reduce, S, T, (RAILSHMEM_REDUCER(Product, SCOPE)))

/// Who does it: WHO is Mover, Signaller or TeamMover, of elements of BYTES.
#define RAILSHMEM_BY(WHO, BYTES, SCOPE) railshmem::device::WHO##By<railshmem::device::SCOPE>::template Of<BYTES>
#define RAILSHMEM_SCOPED_TYPED(N, S, T, BYTES, SCOPE)                                                                  \
  RAILSHMEM_SCOPED_RMA(N##_put, N##_get, N##_iput, N##_iget, S, T, RAILSHMEM_BY(Mover, BYTES, SCOPE))                  \
  RAILSHMEM_SCOPED_PUT_SIGNAL(N##_put_signal, S, T, RAILSHMEM_BY(Signaller, BYTES, SCOPE))                             \
  RAILSHMEM_SCOPED_TEAM(N##_, S, T, RAILSHMEM_BY(TeamMover, BYTES, SCOPE))
#define RAILSHMEM_WARP_TYPED(A, N, T) RAILSHMEM_SCOPED_TYPED(N, _warp, T, railshmem::device::bytes_of_##N, WarpScope)
#define RAILSHMEM_BLOCK_TYPED(A, N, T) RAILSHMEM_SCOPED_TYPED(N, _block, T, railshmem::device::bytes_of_##N, BlockScope)
#define RAILSHMEM_SCOPED_SIZED(BITS, S, SCOPE)                                                                         \
  RAILSHMEM_SCOPED_RMA(put##BITS, get##BITS, iput##BITS, iget##BITS, S, void, RAILSHMEM_BY(Mover, BITS / 8, SCOPE))    \
  RAILSHMEM_SCOPED_PUT_SIGNAL(put##BITS##_signal, S, void, RAILSHMEM_BY(Signaller, BITS / 8, SCOPE))
#define RAILSHMEM_WARP_SIZED(A, BITS) RAILSHMEM_SCOPED_SIZED(BITS, _warp, WarpScope)
#define RAILSHMEM_BLOCK_SIZED(A, BITS) RAILSHMEM_SCOPED_SIZED(BITS, _block, BlockScope)
#define RAILSHMEM_WARP_BITS(A, N, T) RAILSHMEM_SCOPED_BITS(N, _warp, T, WarpScope)
#define RAILSHMEM_BLOCK_BITS(A, N, T) RAILSHMEM_SCOPED_BITS(N, _block, T, BlockScope)
#define RAILSHMEM_WARP_VALUES(A, N, T) RAILSHMEM_SCOPED_VALUES(N, _warp, T, WarpScope)
#define RAILSHMEM_BLOCK_VALUES(A, N, T) RAILSHMEM_SCOPED_VALUES(N, _block, T, BlockScope)
#define RAILSHMEM_SCOPED_UNTYPED(S, SCOPE)                                                                             \
  RAILSHMEM_SCOPED_TEAM(, mem##S, void, RAILSHMEM_BY(TeamMover, 1, SCOPE))                                             \
  RAILSHMEM_SCOPED_BLOCK(putmem, S, void, (RAILSHMEM_BY(Mover, 1, SCOPE)::put))                                        \
  RAILSHMEM_SCOPED_BLOCK(putmem_nbi, S, void, (RAILSHMEM_BY(Mover, 1, SCOPE)::put_nbi))                                \
  RAILSHMEM_SCOPED_BLOCK(getmem, S, void, (RAILSHMEM_BY(Mover, 1, SCOPE)::get))                                        \
  RAILSHMEM_SCOPED_BLOCK(getmem_nbi, S, void, (RAILSHMEM_BY(Mover, 1, SCOPE)::get_nbi))                                \
  RAILSHMEM_SCOPED_PUT_SIGNAL(putmem_signal, S, void, RAILSHMEM_BY(Signaller, 1, SCOPE))                               \
  RAILSHMEM_ONLY_KERNEL(int, team_sync##S, (shmem_team_t team),                                                        \
      (railshmem::device::sync_members<railshmem::device::SCOPE>(railshmem::DeviceCall::team_sync, team)))             \
  RAILSHMEM_ONLY_KERNEL(void, sync_all##S, (void),                                                                     \
      (static_cast<void>(railshmem::device::sync_members<railshmem::device::SCOPE>(railshmem::DeviceCall::sync_all,    \
          SHMEM_TEAM_WORLD))))                                                                                         \
  RAILSHMEM_ONLY_KERNEL(void, barrier_all##S, (void),                                                                  \
      (railshmem::device::barrier_members<railshmem::device::SCOPE>(SHMEM_TEAM_WORLD)))

RAILSHMEM_RMA_TYPES(RAILSHMEM_WARP_TYPED, )
RAILSHMEM_RMA_TYPES(RAILSHMEM_BLOCK_TYPED, )
RAILSHMEM_SIZES(RAILSHMEM_WARP_SIZED, )
RAILSHMEM_SIZES(RAILSHMEM_BLOCK_SIZED, )
RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_WARP_BITS, )
RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_BLOCK_BITS, )
RAILSHMEM_KERNEL_TYPES(RAILSHMEM_WARP_VALUES, )
RAILSHMEM_KERNEL_TYPES(RAILSHMEM_BLOCK_VALUES, )
RAILSHMEM_SCOPED_UNTYPED(_warp, WarpScope)
RAILSHMEM_SCOPED_UNTYPED(_block, BlockScope)
// clang-format on

#endif

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives that move data.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_COLLECTIVE_H
#define RAILSHMEM_COMPAT_NVSHMEM_COLLECTIVE_H

#include "nvshmem/constants.h"

// clang-format off

/// One function for a thread or the host (EMIT RAILSHMEM_COMPAT, P nvshmem_, Q shmem_, S empty) or for a scope. C: what
/// our function's elements are, of the size of T.
#define RAILSHMEM_COMPAT_TEAM_MOVES(EMIT, P, Q, S, N, M, T, C)                                                         \
  EMIT(int, P##N##broadcast##S, (nvshmem_team_t team, T* dest, const T* source, size_t nelems, int PE_root),           \
      Q##M##broadcast##S, (team, (C*)dest, (const C*)source, nelems, PE_root))                                         \
  EMIT(int, P##N##fcollect##S, (nvshmem_team_t team, T* dest, const T* source, size_t nelems),                         \
      Q##M##fcollect##S, (team, (C*)dest, (const C*)source, nelems))                                                   \
  EMIT(int, P##N##alltoall##S, (nvshmem_team_t team, T* dest, const T* source, size_t nelems),                         \
      Q##M##alltoall##S, (team, (C*)dest, (const C*)source, nelems))
#define RAILSHMEM_COMPAT_TEAM_DATA(N, M, T, C)                                                                         \
  RAILSHMEM_COMPAT_TEAM_MOVES(RAILSHMEM_COMPAT, nvshmem_, shmem_, , N, M, T, C)                                        \
  RAILSHMEM_COMPAT_TEAM_MOVES(RAILSHMEM_COMPAT_KERNEL, nvshmemx_, shmemx_, _warp, N, M, T, C)                          \
  RAILSHMEM_COMPAT_TEAM_MOVES(RAILSHMEM_COMPAT_KERNEL, nvshmemx_, shmemx_, _block, N, M, T, C)
#define RAILSHMEM_COMPAT_STRIDED_ALLTOALL(N, M, T, C)                                                                  \
  RAILSHMEM_COMPAT(int, nvshmem_##N##_alltoalls, (nvshmem_team_t team, T* dest, const T* source, ptrdiff_t dst,        \
      ptrdiff_t sst, size_t nelems), shmem_##M##_alltoalls, (team, (C*)dest, (const C*)source, dst, sst, nelems))
#define RAILSHMEM_COMPAT_TEAM_TYPED(A, N, T)                                                                           \
  RAILSHMEM_COMPAT_TEAM_DATA(N##_, N##_, T, T)                                                                         \
  RAILSHMEM_COMPAT_STRIDED_ALLTOALL(N, N, T, T)
#define RAILSHMEM_COMPAT_TEAM_HALF(A, N, T)                                                                            \
  RAILSHMEM_COMPAT_TEAM_DATA(N##_, uint16_, T, uint16_t)                                                               \
  RAILSHMEM_COMPAT_STRIDED_ALLTOALL(N, uint16, T, uint16_t)

// clang-format on

RAILSHMEM_KERNEL_TYPES(RAILSHMEM_COMPAT_TEAM_TYPED, )
RAILSHMEM_COMPAT_HALF_TYPES(RAILSHMEM_COMPAT_TEAM_HALF, )
RAILSHMEM_COMPAT_TEAM_MOVES(RAILSHMEM_COMPAT, nvshmem_, shmem_, mem, , , void, void)
RAILSHMEM_COMPAT_TEAM_MOVES(RAILSHMEM_COMPAT_KERNEL, nvshmemx_, shmemx_, mem_warp, , , void, void)
RAILSHMEM_COMPAT_TEAM_MOVES(RAILSHMEM_COMPAT_KERNEL, nvshmemx_, shmemx_, mem_block, , , void, void)

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// What happens in the order of a stream: NVSHMEM's names, declared as our very functions.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_STREAM_H
#define RAILSHMEM_COMPAT_NVSHMEM_STREAM_H

#include "nvshmem/constants.h"
#include "shmem/stream.h"

#define RAILSHMEM_COMPAT_ON_STREAM(R, NAME, ...) R nvshmemx_##NAME(__VA_ARGS__) __asm__("shmemx_" #NAME);

// clang-format off
/// Types of 16 bits are moved by their size.
#define RAILSHMEM_COMPAT_MOVE_ON_STREAM(N, CALL, T)                                                                    \
  void nvshmemx_##N##_##CALL##_on_stream(T* dest, const T* source, size_t nelems, int pe, shmemx_stream_t stream)      \
      __asm__("shmemx_uint16_" #CALL "_on_stream");
#define RAILSHMEM_COMPAT_TEAM_ON_STREAM(N, CALL, T)                                                                    \
  int nvshmemx_##N##_##CALL##_on_stream(nvshmem_team_t team, T* dest, const T* source, size_t nelems,                  \
      shmemx_stream_t stream) __asm__("shmemx_uint16_" #CALL "_on_stream");
#define RAILSHMEM_COMPAT_HALF_ON_STREAM(A, N, T)                                                                       \
  RAILSHMEM_COMPAT_MOVE_ON_STREAM(N, put, T)                                                                           \
  RAILSHMEM_COMPAT_MOVE_ON_STREAM(N, put_nbi, T)                                                                       \
  RAILSHMEM_COMPAT_MOVE_ON_STREAM(N, get, T)                                                                           \
  RAILSHMEM_COMPAT_MOVE_ON_STREAM(N, get_nbi, T)                                                                       \
  RAILSHMEM_COMPAT_TEAM_ON_STREAM(N, fcollect, T)                                                                      \
  RAILSHMEM_COMPAT_TEAM_ON_STREAM(N, alltoall, T)                                                                      \
  int nvshmemx_##N##_broadcast_on_stream(nvshmem_team_t team, T* dest, const T* source, size_t nelems, int PE_root,    \
      shmemx_stream_t stream) __asm__("shmemx_uint16_broadcast_on_stream");
// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_STREAM_FUNCTIONS(RAILSHMEM_COMPAT_ON_STREAM)
RAILSHMEM_COMPAT_HALF_TYPES(RAILSHMEM_COMPAT_HALF_ON_STREAM, )
RAILSHMEM_END_C

#endif

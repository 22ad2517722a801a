// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives that move data between the PEs of a team.
#ifndef RAILSHMEM_SHMEM_COLLECTIVE_H
#define RAILSHMEM_SHMEM_COLLECTIVE_H

#include "shmem/api.h"
#include "shmem/type_lists.h"
#include "shmem/types.h"

// clang-format off

/// Copies the source of PE_root to dest on every PE of the team, the root included (OpenSHMEM 1.6, 9.10.7).
///
/// All PEs of the team call with equal arguments; PE_root is a number within the team. As with every collective here,
/// dest must be free for writing on all PEs before any of them calls. On return this PE's dest is complete and its
/// source may be reused, but nothing is known of the others. nelems counts elements, in the mem forms bytes. Where
/// nelems is 0, dest and source may be NULL. The result is zero, and not zero when the team handle or an argument is
/// invalid.
#define RAILSHMEM_BROADCAST_FUNCTIONS(F, NAME, T) \
  F(int, NAME, shmem_team_t team, T* dest, const T* source, size_t nelems, int PE_root)

/// Joins the sources of all PEs, in the order of the team, in dest on every PE (OpenSHMEM 1.6, 9.10.8).
///
/// In collect each PE gives as many elements as it likes, none included; in fcollect all PEs give equally many.
#define RAILSHMEM_COLLECT_FUNCTIONS(F, NAME, T) \
  F(int, NAME, shmem_team_t team, T* dest, const T* source, size_t nelems)

/// Sends block k of source to PE k of the team, which keeps it as the block of the sender (OpenSHMEM 1.6, 9.10.5).
///
/// A block has nelems elements. In alltoalls (9.10.6) the elements lie dst apart in dest and sst apart in source, both at least
/// 1, and block k starts at element k x nelems x dst or k x nelems x sst.
#define RAILSHMEM_ALLTOALL_FUNCTIONS(F, NAME, T) \
  F(int, NAME, shmem_team_t team, T* dest, const T* source, size_t nelems)
#define RAILSHMEM_ALLTOALLS_FUNCTIONS(F, NAME, T) \
  F(int, NAME, shmem_team_t team, T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems)

/// Everything above for one type.
#define RAILSHMEM_TEAM_DATA_TYPED(F, N, T)    \
  RAILSHMEM_BROADCAST_FUNCTIONS(F, N##_broadcast, T) \
  RAILSHMEM_COLLECT_FUNCTIONS(F, N##_collect, T)     \
  RAILSHMEM_COLLECT_FUNCTIONS(F, N##_fcollect, T)    \
  RAILSHMEM_ALLTOALL_FUNCTIONS(F, N##_alltoall, T)   \
  RAILSHMEM_ALLTOALLS_FUNCTIONS(F, N##_alltoalls, T)

/// The whole family.
#define RAILSHMEM_TEAM_DATA_FUNCTIONS(F)             \
  RAILSHMEM_RMA_TYPES(RAILSHMEM_TEAM_DATA_TYPED, F) \
  RAILSHMEM_BROADCAST_FUNCTIONS(F, broadcastmem, void)     \
  RAILSHMEM_COLLECT_FUNCTIONS(F, collectmem, void)         \
  RAILSHMEM_COLLECT_FUNCTIONS(F, fcollectmem, void)        \
  RAILSHMEM_ALLTOALL_FUNCTIONS(F, alltoallmem, void)       \
  RAILSHMEM_ALLTOALLS_FUNCTIONS(F, alltoallsmem, void)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_TEAM_DATA_FUNCTIONS(RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_END_C

#endif

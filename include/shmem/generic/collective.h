// SPDX-License-Identifier: BSD-3-Clause
//
// C11 names of collectives that move data; behind the team, dest decides.
#ifndef RAILSHMEM_SHMEM_GENERIC_COLLECTIVE_H
#define RAILSHMEM_SHMEM_GENERIC_COLLECTIVE_H

#include "shmem/generic/select.h"

#define shmem_broadcast(...) \
  RAILSHMEM_SELECT_TEAM(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _broadcast, __VA_ARGS__)
#define shmem_collect(...) RAILSHMEM_SELECT_TEAM(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _collect, __VA_ARGS__)
#define shmem_fcollect(...) RAILSHMEM_SELECT_TEAM(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _fcollect, __VA_ARGS__)
#define shmem_alltoall(...) RAILSHMEM_SELECT_TEAM(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) \
  RAILSHMEM_SELECT_TEAM(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _alltoalls, __VA_ARGS__)

#endif

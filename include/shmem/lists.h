// SPDX-License-Identifier: BSD-3-Clause
//
// Every function list of the API, by family; a new family adds its header and its line here.
#ifndef RAILSHMEM_SHMEM_LISTS_H
#define RAILSHMEM_SHMEM_LISTS_H

#include "shmem/active_set.h"
#include "shmem/atomic.h"
#include "shmem/collective.h"
#include "shmem/context.h"
#include "shmem/deprecated.h"
#include "shmem/lock.h"
#include "shmem/memory.h"
#include "shmem/ordering.h"
#include "shmem/reduce.h"
#include "shmem/rma.h"
#include "shmem/setup.h"
#include "shmem/signal.h"
#include "shmem/team.h"
#include "shmem/wait.h"

// clang-format off

/// Every function with the shmem_ prefix; the old names without it are RAILSHMEM_OLD_NAME_FUNCTIONS.
#define RAILSHMEM_ALL_FUNCTIONS(F)  \
  RAILSHMEM_SETUP_FUNCTIONS(F)      \
  RAILSHMEM_QUERY_FUNCTIONS(F)      \
  RAILSHMEM_PROFILING_FUNCTIONS(F)  \
  RAILSHMEM_MEMORY_FUNCTIONS(F)     \
  RAILSHMEM_TEAM_FUNCTIONS(F)       \
  RAILSHMEM_CONTEXT_FUNCTIONS(F)    \
  RAILSHMEM_CONTEXT_QUERY_FUNCTIONS(F) \
  RAILSHMEM_SESSION_FUNCTIONS(F)    \
  RAILSHMEM_RMA_FUNCTIONS(F)        \
  RAILSHMEM_PUT_SIGNAL_FUNCTIONS(F) \
  RAILSHMEM_SIGNAL_FUNCTIONS(F)     \
  RAILSHMEM_AMO_FUNCTIONS(F)        \
  RAILSHMEM_WAIT_FUNCTIONS(F)       \
  RAILSHMEM_ORDERING_FUNCTIONS(F)   \
  RAILSHMEM_BARRIER_FUNCTIONS(F)    \
  RAILSHMEM_TEAM_DATA_FUNCTIONS(F)  \
  RAILSHMEM_REDUCE_FUNCTIONS(F)     \
  RAILSHMEM_LOCK_FUNCTIONS(F)       \
  RAILSHMEM_ACTIVE_SET_FUNCTIONS(F) \
  RAILSHMEM_OLD_WAIT_FUNCTIONS(F)   \
  RAILSHMEM_OLD_P2P_FUNCTIONS(F)    \
  RAILSHMEM_OLD_AMO_FUNCTIONS(F)

// clang-format on

#endif

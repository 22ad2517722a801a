// SPDX-License-Identifier: BSD-3-Clause
//
// Starting and leaving the library, and asking for one's PE number and place in the job.
#ifndef RAILSHMEM_SHMEM_SETUP_H
#define RAILSHMEM_SHMEM_SETUP_H

#include "shmem/api.h"
#include "shmem/types.h"

// clang-format off

/// Starts and leaves the library (OpenSHMEM 1.6, 9.1 and 9.2).
///
/// init, init_thread and finalize are collective and nest: only the last finalize releases anything, an inner one is a
/// barrier. init_thread returns 0, or nonzero when the library could not start; init ends the process instead.
/// query_initialized and query_thread may be called at any time, from any thread. global_exit may be called by one PE
/// alone; it ends the whole job with that status.
#define RAILSHMEM_SETUP_FUNCTIONS(F)                \
  F(void, init, void)                               \
  F(int, init_thread, int requested, int* provided) \
  F(void, query_thread, int* provided)              \
  F(void, query_initialized, int* initialized)      \
  F(void, finalize, void)                           \
  F(RAILSHMEM_NORETURN void, global_exit, int status)

/// Answers questions about PEs, addresses and the library (OpenSHMEM 1.6, 9.1).
///
/// my_pe and n_pes count in the world. pe_accessible and addr_accessible return 1 or 0. ptr returns an address for
/// plain loads and stores to the other PE's object, or NULL where there is none; it is no symmetric address.
/// info_get_name writes at most SHMEM_MAX_NAME_LEN characters, the terminating null included.
#define RAILSHMEM_QUERY_FUNCTIONS(F)                \
  F(int, my_pe, void)                               \
  F(int, n_pes, void)                               \
  F(int, pe_accessible, int pe)                     \
  F(int, addr_accessible, const void* addr, int pe) \
  F(void*, ptr, const void* dest, int pe)           \
  F(void, info_get_version, int* major, int* minor) \
  F(void, info_get_name, char* name)

/// Talks to a profiling tool; without one it does nothing (OpenSHMEM 1.6, 10).
#define RAILSHMEM_PROFILING_FUNCTIONS(F) \
  F(void, pcontrol, int level, ...)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_SETUP_FUNCTIONS(RAILSHMEM_DECLARE)
RAILSHMEM_QUERY_FUNCTIONS(RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_PROFILING_FUNCTIONS(RAILSHMEM_DECLARE)
RAILSHMEM_END_C

#endif

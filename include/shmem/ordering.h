// SPDX-License-Identifier: BSD-3-Clause
//
// Memory ordering, and the two world-wide synchronisations.
#ifndef RAILSHMEM_SHMEM_ORDERING_H
#define RAILSHMEM_SHMEM_ORDERING_H

#include "shmem/api.h"
#include "shmem/types.h"

// clang-format off

/// Orders or completes what this PE issued on a context (OpenSHMEM 1.6, 9.12).
///
/// fence orders, per target PE, what was issued before it ahead of what comes after: stores, puts, atomic updates,
/// signals; not gets nor fetched values. quiet waits until all of it, gets and fetched values included, is complete and
/// visible; pe_quiet does so for the listed world PEs only, and for none when npes is 0. Other contexts are untouched;
/// SHMEM_CTX_INVALID is no operation.
#define RAILSHMEM_ORDERING_FUNCTIONS(F)                 \
  F(void, fence, void)                                  \
  F(void, ctx_fence, shmem_ctx_t ctx)                   \
  F(void, quiet, void)                                  \
  F(void, ctx_quiet, shmem_ctx_t ctx)                   \
  F(void, pe_quiet, const int* target_pes, size_t npes) \
  F(void, ctx_pe_quiet, shmem_ctx_t ctx, const int* target_pes, size_t npes)

/// Waits until every PE of the world has arrived (OpenSHMEM 1.6, 9.10).
///
/// barrier_all first completes what was issued on the default context. sync_all completes no remote operation; it
/// orders plain stores only.
#define RAILSHMEM_BARRIER_FUNCTIONS(F) \
  F(void, barrier_all, void)           \
  F(void, sync_all, void)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_ORDERING_FUNCTIONS(RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_BARRIER_FUNCTIONS(RAILSHMEM_DECLARE_BOTH)
RAILSHMEM_END_C

#endif

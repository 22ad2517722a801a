// SPDX-License-Identifier: BSD-3-Clause
// Collectives of teams, as their entry points call them: 0, or kBadTeam.
#pragma once

#include "src/api/entry.h"
#include "src/collective/reduce_ops.h"
#include "src/collective/reduction.h"

namespace railshmem {

// ---- collectives that move data ----

int broadcast_call(const char* function, shmem_team_t handle, void* dest, const void* source, size_t nelems,
                   size_t element, int root) noexcept;
int collect_call(const char* function, shmem_team_t handle, void* dest, const void* source, size_t nelems,
                 size_t element) noexcept;
int fcollect_call(const char* function, shmem_team_t handle, void* dest, const void* source, size_t nelems,
                  size_t element) noexcept;
int alltoall_call(const char* function, shmem_team_t handle, void* dest, const void* source, size_t nelems,
                  size_t element) noexcept;
int alltoalls_call(const char* function, shmem_team_t handle, void* dest, const void* source, ptrdiff_t dst,
                   ptrdiff_t sst, size_t nelems, size_t element) noexcept;

// ---- collectives that compute ----

/// What one of the names says.
struct Reducer {
  const char* function;
  ReduceOp op;
  TypeKind kind;
  size_t element;  ///< bytes
};

int reduce_call(const Reducer& call, shmem_team_t team, void* dest, const void* source, size_t nelems) noexcept;
int scan_call(const Reducer& call, Scan kind, shmem_team_t team, void* dest, const void* source,
              size_t nelems) noexcept;
int reducescatter_call(const Reducer& call, shmem_team_t team, void* dest, const void* source, size_t nelems) noexcept;

}  // namespace railshmem

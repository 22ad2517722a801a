// SPDX-License-Identifier: BSD-3-Clause
// Collectives that compute, as their entry points call them: 0, or kBadTeam.
#pragma once

#include "src/api/entry.h"
#include "src/collective/reduce_ops.h"
#include "src/collective/reduction.h"

namespace railshmem {

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

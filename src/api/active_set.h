// SPDX-License-Identifier: BSD-3-Clause
// Collectives of active sets, as their entry points call them.
#pragma once

#include "src/api/entry.h"
#include "src/collective/reduce_ops.h"

namespace railshmem {

/// The members, as a call names them, and the memory that the program lends.
struct ActiveArguments {
  int start;
  int log_stride;
  int size;
  long* psync;
};

void active_barrier_call(const char* function, const ActiveArguments& members) noexcept;
void active_sync_call(const char* function, const ActiveArguments& members) noexcept;
void active_alltoall_call(const char* function, const ActiveArguments& members, void* dest, const void* source,
                          size_t nelems, size_t element) noexcept;
void active_alltoalls_call(const char* function, const ActiveArguments& members, void* dest, const void* source,
                           ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t element) noexcept;
void active_broadcast_call(const char* function, const ActiveArguments& members, void* dest, const void* source,
                           size_t nelems, size_t element, int root) noexcept;
void active_collect_call(const char* function, const ActiveArguments& members, void* dest, const void* source,
                         size_t nelems, size_t element) noexcept;
void active_fcollect_call(const char* function, const ActiveArguments& members, void* dest, const void* source,
                          size_t nelems, size_t element) noexcept;
void active_reduce_call(const char* function, const ActiveArguments& members, void* dest, const void* source,
                        int nreduce, ReduceOp op, TypeKind kind, size_t element) noexcept;

}  // namespace railshmem

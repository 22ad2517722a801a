// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move data, as their entry points call them: 0, or kBadTeam.
#pragma once

#include "src/api/entry.h"

namespace railshmem {

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

}  // namespace railshmem

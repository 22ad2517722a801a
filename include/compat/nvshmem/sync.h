// SPDX-License-Identifier: BSD-3-Clause
//
// Fence, quiet, and what waits for other PEs. The standard has no barrier of a team; here it is quiet and team_sync.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_SYNC_H
#define RAILSHMEM_COMPAT_NVSHMEM_SYNC_H

#include "nvshmem/constants.h"

#if defined(RAILSHMEM_KERNEL_NAMES)
namespace railshmem {
namespace device {

template <class Scope>
RAILSHMEM_KERNEL inline int compat_barrier(shmem_team_t team) {
  return on_team(DeviceCall::barrier_all, team, nullptr,
                 [](const WorldView& world, const Members& members) { return barrier_team<Scope>(world, members); });
}

}  // namespace device
}  // namespace railshmem
#endif

RAILSHMEM_COMPAT(void, nvshmem_fence, (void), shmem_fence, ())
RAILSHMEM_COMPAT(void, nvshmem_quiet, (void), shmem_quiet, ())
RAILSHMEM_COMPAT(void, nvshmem_barrier_all, (void), shmem_barrier_all, ())
RAILSHMEM_COMPAT(void, nvshmem_sync_all, (void), shmem_sync_all, ())
RAILSHMEM_COMPAT(int, nvshmem_team_sync, (nvshmem_team_t team), shmem_team_sync, (team))
RAILSHMEM_COMPAT_SIDES int nvshmem_barrier(nvshmem_team_t team) {
#if defined(__CUDA_ARCH__) || defined(RAILSHMEM_EMULATION)
  return railshmem::device::compat_barrier<railshmem::device::ThreadScope>(team);
#else
  shmem_quiet();
  return shmem_team_sync(team);
#endif
}

// clang-format off
#define RAILSHMEM_COMPAT_SCOPED_SYNC(S, SCOPE)                                                                         \
  RAILSHMEM_COMPAT_KERNEL(void, nvshmemx_barrier_all##S, (void), shmemx_barrier_all##S, ())                            \
  RAILSHMEM_COMPAT_KERNEL(void, nvshmemx_sync_all##S, (void), shmemx_sync_all##S, ())                                  \
  RAILSHMEM_COMPAT_KERNEL(int, nvshmemx_team_sync##S, (nvshmem_team_t team), shmemx_team_sync##S, (team))              \
  RAILSHMEM_COMPAT_KERNEL(int, nvshmemx_barrier##S, (nvshmem_team_t team),                                             \
      railshmem::device::compat_barrier<railshmem::device::SCOPE>, (team))
// clang-format on
RAILSHMEM_COMPAT_SCOPED_SYNC(_warp, WarpScope)
RAILSHMEM_COMPAT_SCOPED_SYNC(_block, BlockScope)

#endif

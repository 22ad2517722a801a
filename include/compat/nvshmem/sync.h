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

#if defined(__CUDACC__)
/// The 128 threads of four warps meet at a named barrier of the block. These are the last eight of its sixteen, since
/// programs that use such barriers count from the first. Returns false where one thread brought `fine` as false.
__device__ inline bool meet_warpgroup(bool fine) {
  constexpr unsigned kThreads = 128;
  const unsigned barrier = 15 - threads::rank_in_block() / kThreads;
  unsigned all;
  asm volatile(
      "{\n\t.reg .pred mine, all;\n\tsetp.ne.u32 mine, %1, 0;\n\t"
      "barrier.cta.red.and.pred all, %2, %3, mine;\n\tselp.u32 %0, 1, 0, all;\n\t}"
      : "=r"(all)
      : "r"(fine ? 1u : 0u), "r"(barrier), "r"(kThreads)
      : "memory");
  return all != 0;
}

/// The first of the four warps calls for all: they share a channel, and what they wrote comes before the meeting.
__device__ inline int compat_barrier_warpgroup(shmem_team_t team) {
  meet_warpgroup(true);
  int status = 0;
  if (threads::rank_in_block() / 32 % 4 == 0) status = compat_barrier<WarpScope>(team);
  return meet_warpgroup(status == 0) ? 0 : -1;
}
#endif

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
#if defined(__CUDACC__) && defined(RAILSHMEM_KERNEL_NAMES)
/// Only for a block whose threads are a multiple of 128.
__device__ inline int nvshmemx_barrier_warpgroup(nvshmem_team_t team) {
  return railshmem::device::compat_barrier_warpgroup(team);
}
#endif

#endif

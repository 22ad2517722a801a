// SPDX-License-Identifier: BSD-3-Clause
// shmem/collective.h, team_sync, sync_all and barrier_all for kernels: by one thread under the names of the standard,
// by a warp or block under shmemx_NAME_warp and shmemx_NAME_block. One kernel of each member calls, once.
#ifndef SHMEM_DEVICE_NAMES_COLLECTIVE_H
#define SHMEM_DEVICE_NAMES_COLLECTIVE_H

#include "shmem/device/names/define.h"

#if defined(RAILSHMEM_KERNEL_NAMES)

#include "shmem/device/collective.h"

namespace railshmem {
namespace device {

/// Runs a collective for a team; the result is what the standard returns.
template <class Run>
RAILSHMEM_KERNEL inline int on_row(DeviceCall call, const TeamRow& row, const void* address, const Run& run) {
  const WorldView& world = this_world();
  ChannelStatus status = ChannelStatus::bad_handle;
  if (row.rank >= 0 && has_area(world, row.slot)) {
    status = run(world, Members(world, row));
  }
  finish(world, call, status, world.pe, address);
  return status == ChannelStatus::ok ? 0 : 1;
}

/// on_row() for the team of a handle.
template <class Run>
RAILSHMEM_KERNEL inline int on_team(DeviceCall call, shmem_team_t team, const void* address, const Run& run) {
  return on_row(call, team_of(this_world(), team), address, run);
}

template <class Scope>
RAILSHMEM_KERNEL inline int sync_members(DeviceCall call, shmem_team_t team) {
  const WorldView& world = this_world();
  const TeamRow row = row_at(world, team);  // the load runs while the fence waits
  const uint64_t slot = slot_of(team);
  const bool there = (slot == 0 || slot < world.nteams) && has_area(world, static_cast<uint32_t>(slot));
  const uint64_t before = there ? next_sync<Scope>(world, static_cast<uint32_t>(slot)) : 0;
  return on_row(call, checked_row(row, team), nullptr,
                [before](const WorldView& w, const Members& members) { return sync_as<Scope>(w, members, before); });
}

template <class Scope>
RAILSHMEM_KERNEL inline void barrier_members(shmem_team_t team) {
  on_team(DeviceCall::barrier_all, team, nullptr,
          [](const WorldView& world, const Members& members) { return barrier_team<Scope>(world, members); });
}

/// Collectives on elements of kBytes.
template <size_t kBytes, class Scope = ThreadScope>
struct TeamMover {
  RAILSHMEM_KERNEL static int broadcast(shmem_team_t team, void* dest, const void* source, size_t nelems, int root) {
    return on_team(DeviceCall::broadcast, team, dest, [=](const WorldView& world, const Members& members) {
      return device::broadcast<Scope>(world, members, dest, source, nelems * kBytes, root);
    });
  }
  RAILSHMEM_KERNEL static int collect(shmem_team_t team, void* dest, const void* source, size_t nelems) {
    return on_team(DeviceCall::collect, team, dest, [=](const WorldView& world, const Members& members) {
      return device::collect<Scope>(world, members, dest, source, nelems * kBytes);
    });
  }
  RAILSHMEM_KERNEL static int fcollect(shmem_team_t team, void* dest, const void* source, size_t nelems) {
    return on_team(DeviceCall::fcollect, team, dest, [=](const WorldView& world, const Members& members) {
      return device::fcollect<Scope>(world, members, dest, source, nelems * kBytes);
    });
  }
  RAILSHMEM_KERNEL static int alltoall(shmem_team_t team, void* dest, const void* source, size_t nelems) {
    return on_team(DeviceCall::alltoall, team, dest, [=](const WorldView& world, const Members& members) {
      return device::alltoall<Scope>(world, members, dest, source, nelems * kBytes);
    });
  }
  RAILSHMEM_KERNEL static int alltoalls(shmem_team_t team, void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,
                                        size_t nelems) {
    constexpr auto kElement = static_cast<int64_t>(kBytes);
    return on_team(DeviceCall::alltoalls, team, dest, [=](const WorldView& world, const Members& members) {
      return device::alltoalls<Scope>(world, members, dest, source, {nelems, kBytes, dst * kElement, sst * kElement});
    });
  }
};

}  // namespace device
}  // namespace railshmem

// clang-format off
#define RAILSHMEM_TEAM_MOVER(N) railshmem::device::TeamMover<railshmem::device::bytes_of_##N>
#define RAILSHMEM_KERNEL_COLLECT(NAME, T, CALL)                                                                        \
  RAILSHMEM_BOTH(int, NAME, (shmem_team_t team, T* dest, const T* source, size_t nelems),                              \
      (team, dest, source, nelems), (CALL(team, dest, source, nelems)))
#define RAILSHMEM_KERNEL_BROADCAST(NAME, T, CALL)                                                                      \
  RAILSHMEM_BOTH(int, NAME, (shmem_team_t team, T* dest, const T* source, size_t nelems, int PE_root),                 \
      (team, dest, source, nelems, PE_root), (CALL(team, dest, source, nelems, PE_root)))
#define RAILSHMEM_KERNEL_ALLTOALLS(NAME, T, CALL)                                                                      \
  RAILSHMEM_BOTH(int, NAME, (shmem_team_t team, T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst,                \
      size_t nelems), (team, dest, source, dst, sst, nelems), (CALL(team, dest, source, dst, sst, nelems)))
#define RAILSHMEM_KERNEL_TEAM_DATA(BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS, T, MOVER)                        \
  RAILSHMEM_KERNEL_BROADCAST(BROADCAST, T, MOVER::broadcast)                                                           \
  RAILSHMEM_KERNEL_COLLECT(COLLECT, T, MOVER::collect)                                                                 \
  RAILSHMEM_KERNEL_COLLECT(FCOLLECT, T, MOVER::fcollect)                                                               \
  RAILSHMEM_KERNEL_COLLECT(ALLTOALL, T, MOVER::alltoall)                                                               \
  RAILSHMEM_KERNEL_ALLTOALLS(ALLTOALLS, T, MOVER::alltoalls)
#define RAILSHMEM_KERNEL_TEAM_DATA_TYPED(A, N, T)                                                                      \
  RAILSHMEM_KERNEL_TEAM_DATA(N##_broadcast, N##_collect, N##_fcollect, N##_alltoall, N##_alltoalls, T,                 \
      RAILSHMEM_TEAM_MOVER(N))
// clang-format on

RAILSHMEM_RMA_TYPES(RAILSHMEM_KERNEL_TEAM_DATA_TYPED, )
RAILSHMEM_KERNEL_TEAM_DATA(broadcastmem, collectmem, fcollectmem, alltoallmem, alltoallsmem, void,
                           railshmem::device::TeamMover<1>)
RAILSHMEM_BOTH(int, team_sync, (shmem_team_t team), (team),
               (railshmem::device::sync_members<railshmem::device::ThreadScope>(railshmem::DeviceCall::team_sync,
                                                                                team)))
RAILSHMEM_BOTH(void, sync_all, (void), (),
               (static_cast<void>(railshmem::device::sync_members<railshmem::device::ThreadScope>(
                   railshmem::DeviceCall::sync_all, SHMEM_TEAM_WORLD))))
RAILSHMEM_BOTH(void, barrier_all, (void), (),
               (railshmem::device::barrier_members<railshmem::device::ThreadScope>(SHMEM_TEAM_WORLD)))

#endif

#endif

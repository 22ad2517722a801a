// SPDX-License-Identifier: BSD-3-Clause
// Collectives of shmem/collective.h, team_sync, sync_all and barrier_all in a kernel, by one thread or by all of a
// scope.
#ifndef SHMEM_DEVICE_CALLS_COLLECTIVE_H
#define SHMEM_DEVICE_CALLS_COLLECTIVE_H

#include "shmem/device/calls/define.h"

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

#endif

#endif

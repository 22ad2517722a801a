// SPDX-License-Identifier: BSD-3-Clause
// fence, quiet, barrier_all, sync_all. The _block forms are about the operations of all threads of the block. One
// thread, or one block, of each PE calls barrier_all or sync_all.
#pragma once

#include "python/device/define.h"
#include "shmem/device/calls/collective.h"
#include "shmem/device/calls/ordering.h"

RAILSHMEM_EXPORT int railshmem_fence() {
  railshmem::device::fence_on(SHMEM_CTX_DEFAULT);
  return 0;
}
RAILSHMEM_EXPORT int railshmem_fence_block() {
  return railshmem::bitcode::leader_then_all([] { railshmem_fence(); });
}
RAILSHMEM_EXPORT int railshmem_quiet() {
  railshmem::device::quiet_on(SHMEM_CTX_DEFAULT);
  return 0;
}
RAILSHMEM_EXPORT int railshmem_quiet_block() {
  return railshmem::bitcode::leader_then_all([] { railshmem_quiet(); });
}
RAILSHMEM_EXPORT int railshmem_barrier_all() {
  using namespace railshmem;
  device::barrier_members<device::ThreadScope>(SHMEM_TEAM_WORLD);
  return 0;
}
RAILSHMEM_EXPORT int railshmem_barrier_all_block() {
  using namespace railshmem;
  return bitcode::all([] { device::barrier_members<device::BlockScope>(SHMEM_TEAM_WORLD); });
}
RAILSHMEM_EXPORT int railshmem_sync_all() {
  using namespace railshmem;
  device::sync_members<device::ThreadScope>(DeviceCall::sync_all, SHMEM_TEAM_WORLD);
  return 0;
}
RAILSHMEM_EXPORT int railshmem_sync_all_block() {
  using namespace railshmem;
  return bitcode::all([] { device::sync_members<device::BlockScope>(DeviceCall::sync_all, SHMEM_TEAM_WORLD); });
}

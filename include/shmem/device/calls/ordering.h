// SPDX-License-Identifier: BSD-3-Clause
// fence, quiet and pe_quiet in a kernel.
#ifndef SHMEM_DEVICE_CALLS_ORDERING_H
#define SHMEM_DEVICE_CALLS_ORDERING_H

#include "shmem/device/calls/define.h"

#if defined(RAILSHMEM_KERNEL_NAMES)

#include "shmem/device/order.h"

namespace railshmem {
namespace device {

RAILSHMEM_KERNEL inline void fence_on(shmem_ctx_t ctx) {
  const WorldView& world = this_world();
  if (ctx == SHMEM_CTX_INVALID || world.npes == 0) return;
  finish(world, DeviceCall::fence, fence(world, context_number(world, ctx)), -1, nullptr);
}

RAILSHMEM_KERNEL inline void quiet_on(shmem_ctx_t ctx) {
  const WorldView& world = this_world();
  if (ctx == SHMEM_CTX_INVALID || world.npes == 0) return;
  finish(world, DeviceCall::quiet, quiet(world), -1, nullptr);
}

/// Completes the operations to all PEs, those to the listed PEs among them.
RAILSHMEM_KERNEL inline void pe_quiet_on(shmem_ctx_t ctx, const int*, size_t npes) {
  const WorldView& world = this_world();
  if (npes == 0 || ctx == SHMEM_CTX_INVALID || world.npes == 0) return;
  finish(world, DeviceCall::pe_quiet, quiet(world), -1, nullptr);
}

}  // namespace device
}  // namespace railshmem

#endif

#endif

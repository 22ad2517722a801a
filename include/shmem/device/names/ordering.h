// SPDX-License-Identifier: BSD-3-Clause
// Fence and quiet of shmem/ordering.h for kernels. What they cover: shmem/device/order.h.
#ifndef SHMEM_DEVICE_NAMES_ORDERING_H
#define SHMEM_DEVICE_NAMES_ORDERING_H

#include "shmem/device/names/define.h"

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

RAILSHMEM_BOTH(void, fence, (void), (), railshmem::device::fence_on(SHMEM_CTX_DEFAULT))
RAILSHMEM_BOTH(void, ctx_fence, (shmem_ctx_t ctx), (ctx), railshmem::device::fence_on(ctx))
RAILSHMEM_BOTH(void, quiet, (void), (), railshmem::device::quiet_on(SHMEM_CTX_DEFAULT))
RAILSHMEM_BOTH(void, ctx_quiet, (shmem_ctx_t ctx), (ctx), railshmem::device::quiet_on(ctx))
RAILSHMEM_BOTH_CTX(void, pe_quiet, (const int* target_pes, size_t npes), (target_pes, npes),
                   railshmem::device::pe_quiet_on)

#endif

#endif

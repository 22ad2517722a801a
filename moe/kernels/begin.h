// SPDX-License-Identifier: BSD-3-Clause
// How every kernel of this library begins. The launch allows it to begin while the kernel before it on the stream ends,
// so that its launch takes no time of its own; see moe/module.h.
#pragma once

#include "shmem/detail/portable.h"

namespace railshmem::moe::kernels {

/// Waits until the kernels before have ended and what they wrote is visible. All threads, before they touch memory.
RAILSHMEM_HD inline void begin_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace railshmem::moe::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Pools of torch's CUDA allocator whose memory is symmetric: C functions for torch.cuda.memory.CUDAPluggableAllocator.
#pragma once

#include <nanobind/nanobind.h>

namespace railshmem::python {

/// The memory of all pools is gone, at the end of the library. Pools of torch that live on get nothing any more.
void close_pools() noexcept;

/// Adds make_pool and pool_bytes, and the registration of other memory: register_memory and unregister_memory.
void bind_pools(nanobind::module_& module);

}  // namespace railshmem::python

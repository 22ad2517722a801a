// SPDX-License-Identifier: BSD-3-Clause
// The kernels of librailshmem-moe.so, among those of the fake driver.
#pragma once

#include "include/shmem/detail/world.h"
#include "tests/gpu/fake_driver/driver/state.h"

namespace railshmem::cuda {

/// `view`: what kernels know of the job.
void add_moe_kernels(FakeModule& module, const WorldView& view);

}  // namespace railshmem::cuda

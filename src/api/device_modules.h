// SPDX-License-Identifier: BSD-3-Clause
// CUDA modules and libraries that the program loads itself, as units with a view of the job.
#pragma once

#include "src/api/device_views.h"
#include "src/cuda/driver.h"

namespace railshmem {

/// Finds the module's copy of the view, and gives it the view there is, or will be. A module that is known already is
/// looked at anew. Throws Error. `driver` stays.
void add_module(DeviceViews& views, const cuda::Driver& driver, cuda::Module module);
void add_library(DeviceViews& views, const cuda::Driver& driver, cuda::Library library);

}  // namespace railshmem

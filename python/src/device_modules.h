// SPDX-License-Identifier: BSD-3-Clause
// Modules of kernels that Python packages load into a GPU.
#pragma once

#include <nanobind/nanobind.h>

namespace railshmem::python {

/// Adds device_module_init, device_library_init and device_library_finalize, which take CUDA's handles as numbers.
void bind_device_modules(nanobind::module_& module);

}  // namespace railshmem::python

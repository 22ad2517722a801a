// SPDX-License-Identifier: BSD-3-Clause
// Collectives on symmetric arrays.
#pragma once

#include <nanobind/nanobind.h>

namespace railshmem::python {

/// Adds all_gather, all_to_all, broadcast, all_reduce and reduce_scatter.
void bind_collectives(nanobind::module_& module);

}  // namespace railshmem::python

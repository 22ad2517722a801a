// SPDX-License-Identifier: BSD-3-Clause
// Mixture of experts: shmemx_moe.h on CUDA tensors.
#pragma once

#include <nanobind/nanobind.h>

namespace railshmem::python {

/// Adds moe_workspace, moe_workspace_of, moe_nodes and the class MoeHandle.
void bind_moe(nanobind::module_& module);
/// Adds moe_bulk_workspace, moe_bulk_workspace_of and the class MoeBulk.
void bind_moe_bulk(nanobind::module_& module);

}  // namespace railshmem::python

// SPDX-License-Identifier: BSD-3-Clause
// librailshmem-moe.so, opened when it is needed: the module links librailshmem.so alone.
#pragma once

#include "shmemx_moe.h"

namespace railshmem::python {

/// The functions of shmemx_moe.h.
struct MoeLibrary {
  decltype(&shmemx_moe_workspace) workspace;
  decltype(&shmemx_moe_workspace_of) workspace_of;
  decltype(&shmemx_moe_workspace_between_nodes) workspace_between_nodes;
  decltype(&shmemx_moe_create) create;
  decltype(&shmemx_moe_destroy) destroy;
  decltype(&shmemx_moe_dispatch_on_stream) dispatch;
  decltype(&shmemx_moe_combine_on_stream) combine;
  decltype(&shmemx_moe_complete_on_stream) complete;
  decltype(&shmemx_moe_mask_on_stream) mask;
  decltype(&shmemx_moe_unmask_on_stream) unmask;
  decltype(&shmemx_moe_masked_on_stream) masked;
  decltype(&shmemx_moe_meet_on_stream) meet;
  decltype(&shmemx_moe_bulk_workspace) bulk_workspace;
  decltype(&shmemx_moe_bulk_workspace_of) bulk_workspace_of;
  decltype(&shmemx_moe_bulk_workspace_between_nodes) bulk_workspace_between_nodes;
  decltype(&shmemx_moe_bulk_create) bulk_create;
  decltype(&shmemx_moe_bulk_destroy) bulk_destroy;
  decltype(&shmemx_moe_bulk_dispatch_on_stream) bulk_dispatch;
  decltype(&shmemx_moe_bulk_combine_on_stream) bulk_combine;
  decltype(&shmemx_moe_bulk_layout_on_stream) bulk_layout;
};

/// Opens the library at the first call: the one beside librailshmem.so, or in the folder moe there (a build tree), or
/// the one that the loader finds. Needs the GIL. FileNotFoundError if none exists; RuntimeError where it is of
/// another version.
const MoeLibrary& moe_library(const char* function);

}  // namespace railshmem::python

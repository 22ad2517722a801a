// SPDX-License-Identifier: BSD-3-Clause
// The C names.
#include <shmem.h>

#include <memory>

#include "moe/checks.h"
#include "moe/members.h"
#include "moe/state.h"
#include "overlap/guarded.h"
#include "overlap/together.h"
#include "src/base/error.h"

using namespace railshmem;
using namespace railshmem::moe;

namespace {

/// Of a team that is yet to be made, on one node or on several.
size_t workspace_to_come(const char* function, int members, int nodes, const shmemx_moe_config_t* config) noexcept {
  size_t nbytes = 0;
  guard(function, [&] {
    check_range("members", members, nodes, kMostMembers);
    const shmemx_moe_config_t good = checked(config, members);
    nbytes = workspace_of(shape_of(good, members), nodes);
  });
  return nbytes;
}

}  // namespace

extern "C" {

size_t shmemx_moe_workspace_of(int members, const shmemx_moe_config_t* config) {
  return workspace_to_come("shmemx_moe_workspace_of", members, 1, config);
}

size_t shmemx_moe_workspace_between_nodes(int members, const shmemx_moe_config_t* config) {
  return workspace_to_come("shmemx_moe_workspace_between_nodes", members, 2, config);
}

size_t shmemx_moe_workspace(shmem_team_t team, const shmemx_moe_config_t* config) {
  size_t nbytes = 0;
  overlap::guarded("shmemx_moe_workspace", [&] {
    const shmemx_topology_t where = place_of(team);
    const shmemx_moe_config_t good = checked(config, where.npes);
    nbytes = workspace_of(shape_of(good, where.npes), where.nnodes);
  });
  return nbytes;
}

int shmemx_moe_create(shmem_team_t team, const shmemx_moe_config_t* config, void* workspace, size_t nbytes,
                      shmemx_moe_t* handle) {
  return overlap::guarded("shmemx_moe_create", [&] {
    check_team(team);
    check_size(config, "config", "SHMEMX_MOE_CONFIG_INITIALIZER");
    std::unique_ptr<shmemx_moe> made;
    const auto make = [&] {
      if (handle == nullptr) throw Error("handle is NULL; pass the address of a shmemx_moe_t");
      const shmemx_topology_t where = place_of(team);
      const shmemx_moe_config_t good = checked(config, where.npes);
      made = std::make_unique<shmemx_moe>(team, where, good, workspace, nbytes);
    };
    if (config->zeroed == 1)
      make();  // local
    else
      overlap::together(team, make);
    *handle = made.release();
  });
}

int shmemx_moe_destroy(shmemx_moe_t handle) {
  return overlap::guarded("shmemx_moe_destroy", [&] {
    if (handle == nullptr) throw Error("handle is NULL; destroy a handle of shmemx_moe_create, once");
    delete handle;
  });
}

int shmemx_moe_dispatch_on_stream(const shmemx_moe_dispatch_t* dispatch, shmemx_stream_t stream) {
  return overlap::guarded("shmemx_moe_dispatch_on_stream", [&] {
    check(dispatch);
    dispatch->handle->dispatch(*dispatch, stream);
  });
}

int shmemx_moe_combine_on_stream(const shmemx_moe_combine_t* combine, shmemx_stream_t stream) {
  return overlap::guarded("shmemx_moe_combine_on_stream", [&] {
    check(combine);
    combine->handle->combine(*combine, stream);
  });
}

int shmemx_moe_complete_on_stream(shmemx_moe_t handle, shmemx_stream_t stream) {
  return overlap::guarded("shmemx_moe_complete_on_stream", [&] {
    check(handle);
    handle->complete(stream);
  });
}

int shmemx_moe_mask_on_stream(shmemx_moe_t handle, int member, shmemx_stream_t stream) {
  return overlap::guarded("shmemx_moe_mask_on_stream", [&] {
    check(handle);
    handle->mask(member, stream);
  });
}

int shmemx_moe_unmask_on_stream(shmemx_moe_t handle, int member, shmemx_stream_t stream) {
  return overlap::guarded("shmemx_moe_unmask_on_stream", [&] {
    check(handle);
    handle->unmask(member, stream);
  });
}

int shmemx_moe_masked_on_stream(shmemx_moe_t handle, int32_t* masked, shmemx_stream_t stream) {
  return overlap::guarded("shmemx_moe_masked_on_stream", [&] {
    check(handle);
    handle->masked(masked, stream);
  });
}

int shmemx_moe_meet_on_stream(shmemx_moe_t handle, shmemx_stream_t stream) {
  return overlap::guarded("shmemx_moe_meet_on_stream", [&] {
    check(handle);
    handle->meet(stream);
  });
}

}  // extern "C"

// SPDX-License-Identifier: BSD-3-Clause
// What a handle for many tokens stands for.
#pragma once

#include <shmemx_moe.h>

#include <optional>

#include "moe/kernels/bulk_far.h"
#include "moe/module.h"

struct shmemx_moe_bulk {
  shmemx_moe_bulk(shmem_team_t team, const shmemx_moe_bulk_config_t& config, void* workspace, size_t nbytes);
  /// Collective over the team, when all members have made theirs. Throws Error after the last exchange.
  void meet(shmem_team_t team, void* workspace);

  /// Throw Error; then nothing happened.
  void dispatch(const shmemx_moe_bulk_dispatch_t& asked, railshmem::moe::Stream stream) const;
  void combine(const shmemx_moe_bulk_combine_t& asked, railshmem::moe::Stream stream) const;
  void layout(const shmemx_moe_bulk_layout_t& asked, railshmem::moe::Stream stream) const;

 private:
  railshmem::moe::BulkRoute checked(const shmemx_moe_bulk_route_t& route) const;

  template <class FarCall, class Call>
  void give(railshmem::moe::Kernel function, const Call& call, railshmem::moe::Stream stream) const;

  const shmemx_moe_bulk_config_t config_;
  const shmemx_topology_t where_;
  const uint64_t row_nbytes_;
  const railshmem::moe::Module module_;
  const railshmem::moe::Kernel dispatch_, combine_, layout_;
  const unsigned blocks_;
  railshmem::moe::Members members_{};
  std::optional<railshmem::moe::BulkFar> far_;  ///< of a team over several nodes
};

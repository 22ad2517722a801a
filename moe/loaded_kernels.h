// SPDX-License-Identifier: BSD-3-Clause
// The kernels that a configuration needs.
#pragma once

#include <shmemx_moe.h>

#include <optional>

#include "moe/kernels/few_far.h"
#include "moe/module.h"

namespace railshmem::moe {

class LoadedKernels {
 public:
  /// For a team of n members on so many nodes.
  LoadedKernels(const shmemx_moe_config_t& config, int n, int nodes);

  void give(const DispatchCall& call, unsigned blocks, unsigned threads, Stream stream) const;
  void give(const CombineCall& call, unsigned blocks, unsigned threads, Stream stream) const;
  /// Only of a handle with masks.
  void give(const MaskCall& call, Stream stream) const;

 private:
  const Module module_;
  std::optional<FarFewLayout> far_;  ///< of a team over several nodes
  Kernel dispatch_, combine_, mask_;
};

}  // namespace railshmem::moe

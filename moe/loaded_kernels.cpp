// SPDX-License-Identifier: BSD-3-Clause
#include "moe/loaded_kernels.h"

#include <string>

namespace railshmem::moe {

LoadedKernels::LoadedKernels(const shmemx_moe_config_t& config)
    : module_(config.maskable != 0 ? moe_masking_kernels() : moe_kernels()) {
  const std::string suffix = config.type == SHMEMX_DATATYPE_HALF ? "half" : "bfloat16";
  const std::string scaled = config.scale_type == SHMEMX_MOE_SCALE_FLOAT ? "_scaled_" : "_powers_";
  const std::string payload = config.dispatch_type == config.type ? ""
                              : config.x_scaled != 0              ? "_given"
                                                                  : scaled + suffix;
  const std::string late = config.late_weights != 0 ? "late_" : "";
  const std::string masking = config.maskable != 0 ? "_masking" : "";
  dispatch_ = module_.function(("railshmem_moe_dispatch" + payload + masking).c_str());
  combine_ = module_.function(("railshmem_moe_combine_" + late + suffix + masking).c_str());
  if (config.maskable != 0) mask_ = module_.function("railshmem_moe_mask");
}

void LoadedKernels::give(const DispatchCall& call, unsigned blocks, unsigned threads, Stream stream) const {
  launch(dispatch_, call, blocks, threads, stream);
}

void LoadedKernels::give(const CombineCall& call, unsigned blocks, unsigned threads, Stream stream) const {
  launch(combine_, call, blocks, threads, stream);
}

void LoadedKernels::give(const MaskCall& call, Stream stream) const {
  launch(mask_, call, 1, kMostMembers, stream);
}

}  // namespace railshmem::moe

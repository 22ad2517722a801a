// SPDX-License-Identifier: BSD-3-Clause
#include "moe/loaded_kernels.h"

#include <string>

#include "moe/checks.h"

namespace railshmem::moe {
namespace {

std::span<const std::byte> image_of(const shmemx_moe_config_t& config, int nodes) {
  if (nodes > 1) return config.maskable != 0 ? moe_far_masking_kernels() : moe_far_kernels();
  return config.maskable != 0 ? moe_masking_kernels() : moe_kernels();
}

}  // namespace

LoadedKernels::LoadedKernels(const shmemx_moe_config_t& config, int n, int nodes) : module_(image_of(config, nodes)) {
  const std::string suffix = config.type == SHMEMX_DATATYPE_HALF ? "half" : "bfloat16";
  const std::string scaled = config.scale_type == SHMEMX_MOE_SCALE_FLOAT ? "_scaled_" : "_powers_";
  const std::string payload = config.dispatch_type == config.type ? ""
                              : config.x_scaled != 0              ? "_given"
                                                                  : scaled + suffix;
  const std::string late = config.late_weights != 0 ? "late_" : "";
  const std::string far = nodes > 1 ? "_far" : "", end = far + (config.maskable != 0 ? "_masking" : "");
  dispatch_ = module_.kernel(("railshmem_moe_dispatch" + payload + end).c_str());
  combine_ = module_.kernel(("railshmem_moe_combine_" + late + suffix + end).c_str());
  if (nodes > 1) far_.emplace(shape_of(config, n));
  if (config.maskable != 0) mask_ = module_.kernel(("railshmem_moe_mask" + far).c_str());
}

void LoadedKernels::give(const DispatchCall& call, unsigned blocks, unsigned threads, Stream stream) const {
  if (far_)
    launch(dispatch_, FarFewCall<DispatchCall>{call, *far_}, blocks, threads, stream);
  else
    launch(dispatch_, call, blocks, threads, stream);
}

void LoadedKernels::give(const CombineCall& call, unsigned blocks, unsigned threads, Stream stream) const {
  if (far_)
    launch(combine_, FarFewCall<CombineCall>{call, *far_}, blocks, threads, stream);
  else
    launch(combine_, call, blocks, threads, stream);
}

void LoadedKernels::give(const MaskCall& call, Stream stream) const {
  launch(mask_, call, 1, kMostMembers, stream);
}

}  // namespace railshmem::moe

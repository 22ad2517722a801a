// SPDX-License-Identifier: BSD-3-Clause
#include "moe/loaded_kernels.h"

#include <shmemx.h>

#include <string>

#include "src/base/error.h"

namespace railshmem::moe {
namespace {

template <class Call>
void launch(overlap::Function function, const Call& call, unsigned blocks, unsigned threads, Stream stream) {
  Call copy = call;
  void* parameters[] = {&copy};
  overlap::must(overlap::driver().launch(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr),
                "cuLaunchKernel");
}

}  // namespace

LoadedKernels::LoadedKernels(const shmemx_moe_config_t& config) {
  const std::span<const std::byte> image = moe_kernels();
  if (image.empty())
    throw Error("this library was built without nvcc, so it has no kernels; build it where the CUDA toolkit is");
  overlap::must(overlap::driver().module_load(&module_, image.data()), "cuModuleLoadData");
  const std::string suffix = config.type == SHMEMX_DATATYPE_HALF ? "half" : "bfloat16";
  const std::string scaled = config.scale_type == SHMEMX_MOE_SCALE_FLOAT ? "_scaled_" : "_powers_";
  const std::string payload = config.dispatch_type == config.type ? ""
                              : config.x_scaled != 0              ? "_given"
                                                                  : scaled + suffix;
  const std::string dispatch = "railshmem_moe_dispatch" + payload;
  const std::string combine =
      (config.late_weights != 0 ? "railshmem_moe_combine_late_" : "railshmem_moe_combine_") + suffix;
  overlap::must(overlap::driver().module_function(&dispatch_, module_, dispatch.c_str()), "cuModuleGetFunction");
  overlap::must(overlap::driver().module_function(&combine_, module_, combine.c_str()), "cuModuleGetFunction");
  if (shmemx_cumodule_init(module_) != 0) throw Error("the kernels do not fit to the librailshmem.so that is loaded");
}

LoadedKernels::~LoadedKernels() {
  if (module_ == nullptr) return;
  shmemx_cumodule_finalize(module_);
  overlap::driver().module_unload(module_);
}

void LoadedKernels::give(const DispatchCall& call, unsigned blocks, unsigned threads, Stream stream) const {
  launch(dispatch_, call, blocks, threads, stream);
}

void LoadedKernels::give(const CombineCall& call, unsigned blocks, unsigned threads, Stream stream) const {
  launch(combine_, call, blocks, threads, stream);
}

}  // namespace railshmem::moe

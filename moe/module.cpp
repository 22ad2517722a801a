// SPDX-License-Identifier: BSD-3-Clause
#include "moe/module.h"

#include <shmemx.h>

#include "src/base/error.h"

namespace railshmem::moe {
namespace {

using overlap::driver;
using overlap::must;

constexpr int kMultiprocessors = 16;  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT

}  // namespace

Module::Module(std::span<const std::byte> image) {
  if (image.empty())
    throw Error("this library was built without nvcc, so it has no kernels; build it where the CUDA toolkit is");
  must(driver().module_load(&module_, image.data()), "cuModuleLoadData");
  if (shmemx_cumodule_init(module_) == 0) return;
  driver().module_unload(module_);
  throw Error("the kernels do not fit to the librailshmem.so that is loaded");
}

Module::~Module() {
  shmemx_cumodule_finalize(module_);
  driver().module_unload(module_);
}

overlap::Function Module::function(const char* name) const {
  overlap::Function found = nullptr;
  must(driver().module_function(&found, module_, name), "cuModuleGetFunction");
  return found;
}

unsigned multiprocessors_here() {
  void* context = nullptr;
  must(driver().get_context(&context), "cuCtxGetCurrent");
  if (context == nullptr) throw Error("no GPU is current in this thread; call cudaSetDevice with this PE's GPU before");
  int device = 0, there = 0;
  must(driver().context_device(&device), "cuCtxGetDevice");
  must(driver().device_attribute(&there, kMultiprocessors, device), "cuDeviceGetAttribute");
  return static_cast<unsigned>(there);
}

}  // namespace railshmem::moe

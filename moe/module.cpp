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

Kernel Module::kernel(const char* name) const {
  constexpr int kVirtualArchitecture = 5;  // CU_FUNC_ATTRIBUTE_PTX_VERSION
  constexpr int kKnowsWaiting = 90;        // architectures for which begin_kernel() does something
  constexpr int kCaptures = 12'030;        // drivers that take a kernel that begins early into a graph
  Kernel kernel;
  must(driver().module_function(&kernel.function, module_, name), "cuModuleGetFunction");
  int compiled_for = 0, version = 0;
  must(driver().function_attribute(&compiled_for, kVirtualArchitecture, kernel.function), "cuFuncGetAttribute");
  must(driver().driver_version(&version), "cuDriverGetVersion");
  kernel.waits = compiled_for >= kKnowsWaiting && version >= kCaptures;
  return kernel;
}

void launch(Kernel kernel, void** parameters, unsigned blocks, unsigned threads, Stream stream) {
  const overlap::LaunchAttribute early = {.id = overlap::LaunchAttribute::kEarly, .value = 1};
  const overlap::LaunchConfig config = {{blocks, 1, 1}, {threads, 1, 1}, 0, stream, &early, kernel.waits ? 1u : 0u};
  must(driver().launch_with(&config, kernel.function, parameters, nullptr), "cuLaunchKernelEx");
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

// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/loaded_kernels.h"

#include "src/base/error.h"
#include "src/cuda/context_guard.h"

namespace railshmem::cuda {

LoadedKernels::LoadedKernels(const DeviceContext& gpu, DeviceCopies& copies, std::span<const std::byte> image,
                             const WorldView& view)
    : gpu_(gpu) {
  const Driver& driver = gpu.driver();
  need(driver, Calls::launch, "stream-ordered calls");
  if (image.empty())
    throw Error(
        "this library was built without nvcc, so it has no kernels for stream-ordered calls; build it where the CUDA "
        "toolkit is");
  const ContextGuard guard(gpu);
  gpu.check(driver.module_load(&module_, image.data()), "cuModuleLoadData");
  show(copies, view);
}

void LoadedKernels::show(DeviceCopies& copies, const WorldView& view) const {
  const ContextGuard guard(gpu_);
  Address address = 0;
  size_t nbytes = 0;
  gpu_.check(gpu_.driver().module_global(&address, &nbytes, module_, "railshmem_device_view"), "cuModuleGetGlobal");
  if (nbytes != sizeof view)
    throw Error(
        text("the library's own kernels have a view of %zu bytes, not of %zu; build it anew", nbytes, sizeof view));
  copies.copy(pointer_to(address), &view, sizeof view);
}

LoadedKernels::~LoadedKernels() {
  const ContextGuard guard(gpu_, ContextGuard::For::cleanup);
  if (module_ != nullptr) gpu_.log_failure(gpu_.driver().module_unload(module_), "cuModuleUnload");
}

Function LoadedKernels::find(const char* name) const {
  const ContextGuard guard(gpu_);
  Function kernel = nullptr;
  gpu_.check(gpu_.driver().module_function(&kernel, module_, name), "cuModuleGetFunction");
  return kernel;
}

Result LoadedKernels::launch(Function kernel, unsigned nblocks, unsigned nthreads, void** parameters,
                             Stream stream) const noexcept {
  return gpu_.driver().launch(kernel, nblocks, 1, 1, nthreads, 1, 1, 0, stream, parameters, nullptr);
}

}  // namespace railshmem::cuda

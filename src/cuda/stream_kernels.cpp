// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/stream_kernels.h"

#include "src/base/error.h"
#include "src/cuda/context_guard.h"
#include "src/cuda/kernel_images.h"

namespace railshmem::cuda {
namespace {

constexpr unsigned kStepThreads = 32;  // the launch bounds of stream.cu
constexpr unsigned kCollectiveThreads = 512;
constexpr unsigned kStridedThreads = 256;

}  // namespace

StreamKernels::StreamKernels(const DeviceContext& gpu, DeviceCopies& copies, const WorldView& view) : gpu_(gpu) {
  const Driver& driver = gpu.driver();
  need(driver, Calls::launch, "stream-ordered calls");
  if (stream_kernels().empty())
    throw Error(
        "this library was built without nvcc, so it has no kernels for stream-ordered calls; build it where the CUDA "
        "toolkit is");
  const ContextGuard guard(gpu);
  gpu.check(driver.module_load(&module_, stream_kernels().data()), "cuModuleLoadData");
  const auto find = [&](Function* function, const char* name) {
    gpu.check(driver.module_function(function, module_, name), "cuModuleGetFunction");
  };
  find(&step_, "railshmem_stream_step");
  find(&collective_, "railshmem_stream_collective");
  find(&strided_, "railshmem_stream_strided");
  find(&words_, "railshmem_stream_words");
  Address address = 0;
  size_t nbytes = 0;
  gpu.check(driver.module_global(&address, &nbytes, module_, "railshmem_device_view"), "cuModuleGetGlobal");
  if (nbytes != sizeof view)
    throw Error(
        text("the library's own kernels have a view of %zu bytes, not of %zu; build it anew", nbytes, sizeof view));
  copies.copy(pointer_to(address), &view, sizeof view);
}

StreamKernels::~StreamKernels() {
  const ContextGuard guard(gpu_, ContextGuard::For::cleanup);
  if (module_ != nullptr) gpu_.log_failure(gpu_.driver().module_unload(module_), "cuModuleUnload");
}

Result StreamKernels::give(const StreamCall& call, Stream stream) noexcept {
  const bool many = call.step >= StreamStep::broadcast;
  return launch(many ? collective_ : step_, 1, many ? kCollectiveThreads : kStepThreads, &call, stream);
}

Result StreamKernels::give(const StreamStrides& strides, Stream stream) noexcept {
  return launch(strided_, strides.nblocks, kStridedThreads, &strides, stream);
}

Result StreamKernels::give(const StreamWords& words, Stream stream) noexcept {
  return launch(words_, 1, kStepThreads, &words, stream);
}

Result StreamKernels::launch(Function function, unsigned nblocks, unsigned nthreads, const void* parameter,
                             Stream stream) noexcept {
  void* parameters[] = {const_cast<void*>(parameter)};
  return gpu_.driver().launch(function, nblocks, 1, 1, nthreads, 1, 1, 0, stream, parameters, nullptr);
}

}  // namespace railshmem::cuda

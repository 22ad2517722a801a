// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/stream_kernels.h"

#include "src/base/error.h"
#include "src/cuda/context_guard.h"
#include "src/cuda/kernel_images.h"

namespace railshmem::cuda {
namespace {

constexpr unsigned kStepThreads = 32;  // the launch bounds of stream.cu
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
  step_ = load("railshmem_stream_step");
  collective_ = load("railshmem_stream_collective");
  cluster_ = load("railshmem_stream_cluster");
  reduce_ = load("railshmem_stream_reduce");
  cluster_reduce_ = load("railshmem_stream_cluster_reduce");
  strided_ = load("railshmem_stream_strided");
  words_ = load("railshmem_stream_words");
  int blocks = 0;
  if (driver.function_attribute(&blocks, FunctionAttribute::required_cluster_width, cluster_) == kSuccess && blocks > 0)
    cluster_blocks_ = static_cast<unsigned>(blocks);
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

Function StreamKernels::load(const char* name) const {
  Function kernel = nullptr;
  gpu_.check(gpu_.driver().module_function(&kernel, module_, name), "cuModuleGetFunction");
  return kernel;
}

Result StreamKernels::launch(Function kernel, unsigned nblocks, unsigned nthreads, void** parameters,
                             Stream stream) noexcept {
  return gpu_.driver().launch(kernel, nblocks, 1, 1, nthreads, 1, 1, 0, stream, parameters, nullptr);
}

Result StreamKernels::give(const StreamCall& call, StreamWidth width, Stream stream) noexcept {
  void* parameters[] = {const_cast<StreamCall*>(&call)};
  switch (width) {
    case StreamWidth::warp:
      return launch(step_, 1, kStepThreads, parameters, stream);
    case StreamWidth::block:
      return launch(collective_, 1, kStreamBlockThreads, parameters, stream);
    case StreamWidth::cluster:
      break;
  }
  return launch(cluster_, cluster_blocks_, kStreamBlockThreads, parameters, stream);
}

Result StreamKernels::give(const StreamStrides& strides, Stream stream) noexcept {
  void* parameters[] = {const_cast<StreamStrides*>(&strides)};
  return launch(strided_, strides.nblocks, kStridedThreads, parameters, stream);
}

Result StreamKernels::give(const StreamWords& words, Stream stream) noexcept {
  void* parameters[] = {const_cast<StreamWords*>(&words)};
  return launch(words_, 1, kStepThreads, parameters, stream);
}

Result StreamKernels::reduce(const StreamCall& call, const DeviceReduction& part, StreamWidth width,
                             Stream stream) noexcept {
  void* parameters[] = {const_cast<StreamCall*>(&call), const_cast<DeviceReduction*>(&part)};
  if (width != StreamWidth::cluster) return launch(reduce_, 1, kStreamBlockThreads, parameters, stream);
  return launch(cluster_reduce_, cluster_blocks_, kStreamBlockThreads, parameters, stream);
}

}  // namespace railshmem::cuda

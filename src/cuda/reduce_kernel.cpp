// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/reduce_kernel.h"

#include <sched.h>

#include <algorithm>

#include "src/base/cpu.h"
#include "src/base/log.h"
#include "src/cuda/context_guard.h"
#include "src/cuda/kernel_images.h"
#include "src/cuda/kernels/reduce.h"

namespace railshmem::cuda {
namespace {

constexpr unsigned kThreads = 512;
constexpr unsigned kBlocksPerMultiprocessor = 2;

}  // namespace

bool ReduceKernel::available() noexcept {
  return !reduce_kernels().empty();
}
bool ReduceKernel::computes(TypeKind kind) noexcept {
  return kernels::can_reduce(kind);
}

ReduceKernel::ReduceKernel(const DeviceContext& gpu) : gpu_(gpu) {
  const Driver& driver = gpu.driver();
  need(driver, Calls::launch, "reductions on device memory");
  const ContextGuard guard(gpu);
  gpu.check(driver.module_load(&module_, reduce_kernels().data()), "cuModuleLoadData");
  gpu.check(driver.module_function(&function_, module_, "railshmem_reduce"), "cuModuleGetFunction");
  gpu.check(driver.stream_create(&stream_, kStreamNonBlocking, kHighPriority), "cuStreamCreateWithPriority");
}

ReduceKernel::~ReduceKernel() {
  const ContextGuard guard(gpu_, ContextGuard::For::cleanup);
  const Driver& driver = gpu_.driver();
  if (stream_ != nullptr) gpu_.log_failure(driver.stream_destroy(stream_), "cuStreamDestroy");
  if (module_ != nullptr) gpu_.log_failure(driver.module_unload(module_), "cuModuleUnload");
}

Result ReduceKernel::give(const DeviceReduction& reduction, Stream stream) noexcept {
  const auto most = static_cast<uint64_t>(std::max(1, gpu_.capabilities().multiprocessors)) * kBlocksPerMultiprocessor;
  const auto grid = static_cast<unsigned>(std::clamp<uint64_t>((reduction.nelems + kThreads - 1) / kThreads, 1, most));
  void* parameters[] = {const_cast<DeviceReduction*>(&reduction)};
  return gpu_.driver().launch(function_, grid, 1, 1, kThreads, 1, 1, 0, stream, parameters, nullptr);
}

void ReduceKernel::run(const DeviceReduction& reduction) noexcept {
  const std::lock_guard lock(mutex_);
  const ContextGuard guard(gpu_);
  if (const Result result = give(reduction, stream_); result != kSuccess) gpu_.die_of(result, "cuLaunchKernel");
  const uint64_t began = now_ns();
  Result result = gpu_.driver().stream_query(stream_);
  for (; result == kNotReady; result = gpu_.driver().stream_query(stream_)) {
    if (now_ns() - began > kPatienceNs)
      die("a reduction of the host on memory of %s has not ended within %llu s: kernels fill the GPU; let one that "
          "waits for the host leave a place, or reduce vectors of at most 16 KiB, which needs none",
          gpu_.description().c_str(), static_cast<unsigned long long>(kPatienceNs / 1'000'000'000));
    sched_yield();
  }
  if (result != kSuccess) gpu_.die_of(result, "a reduction (cuStreamQuery)");
}

}  // namespace railshmem::cuda

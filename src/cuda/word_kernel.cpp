// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/word_kernel.h"

#include <sched.h>

#include "src/base/cpu.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/cuda/check.h"
#include "src/cuda/context_guard.h"
#include "src/cuda/kernel_images.h"

namespace railshmem::cuda {
namespace {

constexpr unsigned kNonBlocking = 1;

}  // namespace

WordKernel::WordKernel(const DeviceContext& gpu) : gpu_(gpu), old_(gpu, sizeof(uint64_t)) {
  const Driver& driver = gpu.driver();
  need(driver, Calls::launch, "atomic operations of host code on device memory");
  if (words_kernels().empty())
    throw Error(
        "this library was built without nvcc, so it has no kernels for atomic operations of host code on device "
        "memory; build it where the CUDA toolkit is, or set SHMEM_HEAP_KIND to host");
  const ContextGuard guard(gpu);
  gpu.check(driver.module_load(&module_, words_kernels().data()), "cuModuleLoadData");
  gpu.check(driver.module_function(&function_, module_, "railshmem_word_amo"), "cuModuleGetFunction");
  gpu.check(driver.stream_create(&stream_, kNonBlocking, kHighPriority), "cuStreamCreateWithPriority");
}

WordKernel::~WordKernel() {
  const ContextGuard guard(gpu_);
  const Driver& driver = gpu_.driver();
  if (stream_ != nullptr) gpu_.log_failure(driver.stream_destroy(stream_), "cuStreamDestroy");
  if (module_ != nullptr) gpu_.log_failure(driver.module_unload(module_), "cuModuleUnload");
}

uint64_t WordKernel::amo(void* word, uint8_t width, AmoOp op, uint64_t operand, uint64_t compare) noexcept {
  const std::lock_guard lock(mutex_);
  const ContextGuard guard(gpu_);
  const Driver& driver = gpu_.driver();
  unsigned bytes = width;
  auto what = static_cast<unsigned>(op);
  void* old = old_.device();
  void* parameters[] = {&word, &bytes, &what, &operand, &compare, &old};
  if (const Result result = driver.launch(function_, 1, 1, 1, 1, 1, 1, 0, stream_, parameters, nullptr);
      result != kSuccess)
    gpu_.die_of(result, "cuLaunchKernel");
  const uint64_t began = now_ns();
  Result result = driver.stream_query(stream_);
  for (; result == kNotReady; result = driver.stream_query(stream_)) {
    if (now_ns() - began > kPatienceNs)
      die("an atomic operation of the host on a word of %s finds no free multiprocessor for %llu s: kernels fill the "
          "GPU; let one that waits for the host leave a place, or use a signal with SHMEM_SIGNAL_SET, which needs none",
          gpu_.description().c_str(), static_cast<unsigned long long>(kPatienceNs / 1'000'000'000));
    sched_yield();
  }
  if (result != kSuccess) gpu_.die_of(result, "cuStreamQuery");
  uint64_t value = 0;
  __atomic_load(reinterpret_cast<const uint64_t*>(old_.host()), &value, __ATOMIC_ACQUIRE);
  return value;
}

}  // namespace railshmem::cuda

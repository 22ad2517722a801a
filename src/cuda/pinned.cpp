// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/pinned.h"

#include <cstring>
#include <utility>

#include "src/base/error.h"
#include "src/cuda/check.h"
#include "src/cuda/context_guard.h"
#include "src/cuda/numa_preference.h"

namespace railshmem::cuda {
namespace {

constexpr unsigned kForAll = kPinnedPortable | kPinnedMapped;

[[noreturn]] void refuse_pinned(const DeviceContext& gpu, size_t nbytes, const char* step, Result result) {
  throw Error(
      text("cannot pin %zu bytes of host memory for %s: %s: %s%s; raise the limit on locked memory (ulimit -l), "
           "or run fewer PEs on this host",
           nbytes, gpu.description().c_str(), step, explain(gpu.driver(), result).c_str(), hint(result)));
}

/// 0, as any result, when it has none.
Result device_address(const DeviceContext& gpu, std::byte* host, std::byte** device) noexcept {
  Address address = 0;
  const Result result = gpu.driver().host_device_pointer(&address, host, 0);
  *device = pointer_to(address);
  return result;
}

}  // namespace

std::byte* device_address(const DeviceContext& gpu, std::byte* pinned) noexcept {
  const ContextGuard guard(gpu);
  std::byte* device = nullptr;
  return device_address(gpu, pinned, &device) == kSuccess ? device : nullptr;
}

PinnedMemory::PinnedMemory(const DeviceContext& gpu, size_t nbytes) : gpu_(&gpu), nbytes_(nbytes) {
  const ContextGuard guard(gpu);
  const NumaPreference near(gpu.capabilities().host_numa_node);
  void* allocated = nullptr;
  if (const Result result = gpu.driver().host_alloc(&allocated, nbytes, kForAll); result != kSuccess)
    refuse_pinned(gpu, nbytes, "cuMemHostAlloc", result);
  std::memset(allocated, 0, nbytes);
  host_ = static_cast<std::byte*>(allocated);
  if (const Result result = device_address(gpu, host_, &device_); result != kSuccess) {
    gpu.driver().host_free(host_);
    refuse_pinned(gpu, nbytes, "cuMemHostGetDevicePointer", result);
  }
}

PinnedMemory::PinnedMemory(PinnedMemory&& other) noexcept
    : gpu_(other.gpu_),
      host_(std::exchange(other.host_, nullptr)),
      device_(std::exchange(other.device_, nullptr)),
      nbytes_(std::exchange(other.nbytes_, 0)) {}

PinnedMemory& PinnedMemory::operator=(PinnedMemory&& other) noexcept {
  std::swap(gpu_, other.gpu_);
  std::swap(host_, other.host_);
  std::swap(device_, other.device_);
  std::swap(nbytes_, other.nbytes_);
  return *this;
}

PinnedMemory::~PinnedMemory() {
  if (host_ == nullptr) return;
  const ContextGuard guard(*gpu_, ContextGuard::For::cleanup);
  gpu_->log_failure(gpu_->driver().host_free(host_), "cuMemFreeHost");
}

HostRegistration::HostRegistration(const DeviceContext& gpu, std::span<std::byte> memory) : gpu_(gpu), memory_(memory) {
  const ContextGuard guard(gpu);
  Result result = gpu.driver().host_register(memory.data(), memory.size(), kForAll);
  owned_ = result == kSuccess;
  if (result != kSuccess && result != kAlreadyRegistered)
    refuse_pinned(gpu, memory.size(), "cuMemHostRegister", result);
  result = device_address(gpu, memory.data(), &device_);
  if (result == kSuccess) return;
  if (owned_) gpu.driver().host_unregister(memory.data());
  refuse_pinned(gpu, memory.size(), "cuMemHostGetDevicePointer", result);
}

HostRegistration::HostRegistration(HostRegistration&& other) noexcept
    : gpu_(other.gpu_), memory_(other.memory_), device_(other.device_), owned_(std::exchange(other.owned_, false)) {}

HostRegistration::~HostRegistration() {
  if (!owned_) return;
  const ContextGuard guard(gpu_, ContextGuard::For::cleanup);
  gpu_.log_failure(gpu_.driver().host_unregister(memory_.data()), "cuMemHostUnregister");
}

}  // namespace railshmem::cuda

// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/physical_memory.h"

#include <utility>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/cuda/check.h"
#include "src/cuda/context_guard.h"

namespace railshmem::cuda {
namespace {

void require_shareable(const DeviceContext& gpu) {
  need(gpu.driver(), Calls::memory, "a device heap", "set SHMEM_HEAP_KIND to host");
  if (!gpu.capabilities().virtual_memory || !gpu.capabilities().posix_fds)
    throw Error(
        text("%s cannot share its memory with other processes (no virtual memory management, or no file "
             "descriptors of it); set SHMEM_HEAP_KIND to host",
             gpu.description().c_str()));
}

[[noreturn]] void refuse_memory(const DeviceContext& gpu, size_t nbytes, Result result) {
  size_t free = 0;
  size_t total = 0;
  gpu.driver().memory_info(&free, &total);
  throw Error(
      text("no memory for %zu bytes on %s: %s%s; %zu of its %zu bytes are free; allocate less, or lower "
           "SHMEM_SYMMETRIC_SIZE",
           nbytes, gpu.description().c_str(), explain(gpu.driver(), result).c_str(), hint(result), free, total));
}

}  // namespace

PhysicalMemory PhysicalMemory::create(const DeviceContext& gpu, size_t nbytes) {
  require_shareable(gpu);
  if (nbytes == 0 || nbytes % gpu.capabilities().granularity != 0)
    throw Error(text("%zu bytes of device memory; the size must be a multiple of %zu, the granularity of %s", nbytes,
                     gpu.capabilities().granularity, gpu.description().c_str()));
  const ContextGuard guard(gpu);
  AllocationProperties properties;
  properties.location.id = gpu.device();
  properties.handle_types = kHandlePosixFd | (gpu.capabilities().fabric_handles ? kHandleFabric : 0);
  properties.rdma_capable = gpu.capabilities().rdma_of_virtual_memory ? 1 : 0;
  for (;;) {
    MemoryHandle handle = 0;
    const Result result = gpu.driver().memory_create(&handle, nbytes, &properties, 0);
    if (result == kSuccess) {
      PhysicalMemory memory(gpu, handle, nbytes);
      memory.rdma_capable_ = properties.rdma_capable != 0;
      memory.fd_ = true;
      memory.fabric_ = (properties.handle_types & kHandleFabric) != 0;
      return memory;
    }
    // Devices offer fabric handles also where the system lacks what serves them (IMEX), and the RDMA flag where the
    // kernel module for it is missing: less, then.
    const bool asks_for_more = properties.handle_types != kHandlePosixFd || properties.rdma_capable != 0;
    if (result == kOutOfMemory || !asks_for_more) refuse_memory(gpu, nbytes, result);
    const bool fabric = (properties.handle_types & kHandleFabric) != 0;
    log_debug("%s gives no memory %s: %s (%d); trying without", gpu.description().c_str(),
              fabric ? "with a fabric handle" : "for GPUDirect RDMA", words(gpu.driver(), result), result);
    if (fabric) {
      properties.handle_types = kHandlePosixFd;
    } else {
      properties.rdma_capable = 0;
    }
  }
}

PhysicalMemory PhysicalMemory::import_handle(const DeviceContext& gpu, void* shareable, int type, size_t nbytes,
                                             const std::string& whose) {
  require_shareable(gpu);
  const ContextGuard guard(gpu);
  MemoryHandle handle = 0;
  const Result result = gpu.driver().memory_import(&handle, shareable, type);
  if (result != kSuccess)
    throw Error(text("%zu bytes of GPU memory of %s cannot be opened on %s: %s%s", nbytes, whose.c_str(),
                     gpu.description().c_str(), explain(gpu.driver(), result).c_str(), hint(result)));
  return PhysicalMemory(gpu, handle, nbytes);
}

PhysicalMemory PhysicalMemory::import(const DeviceContext& gpu, int fd, size_t nbytes, const std::string& whose) {
  void* const shareable = reinterpret_cast<void*>(static_cast<intptr_t>(fd));  // by value, says the driver's interface
  return import_handle(gpu, shareable, kHandlePosixFd, nbytes, whose);
}

PhysicalMemory PhysicalMemory::import(const DeviceContext& gpu, const FabricHandle& fabric, size_t nbytes,
                                      const std::string& whose) {
  FabricHandle handle = fabric;
  return import_handle(gpu, &handle, kHandleFabric, nbytes, whose);
}

PhysicalMemory PhysicalMemory::retain(const DeviceContext& gpu, std::byte* mapping, size_t nbytes, bool to_share) {
  const ContextGuard guard(gpu);
  const Driver& driver = gpu.driver();
  MemoryHandle handle = 0;
  if (const Result result = driver.memory_retain(&handle, mapping); result != kSuccess)
    throw Error(
        text("the %zu bytes at %p are no memory of cuMemCreate (%s), and CUDA maps no other (cudaMalloc) at an address "
             "of the library's choice; allocate with cuMemCreate (PyTorch: expandable_segments:True in "
             "PYTORCH_CUDA_ALLOC_CONF) or with shmem_malloc. As source of puts and destination of gets such memory "
             "needs no registration",
             nbytes, static_cast<void*>(mapping), explain(driver, result).c_str()));
  PhysicalMemory memory(gpu, handle, nbytes);
  AllocationProperties properties;
  gpu.check(driver.memory_properties(&properties, handle), "cuMemGetAllocationPropertiesFromHandle");
  if (properties.location.type != kAtDevice || properties.location.id != gpu.device())
    throw Error(text("the %zu bytes at %p are not in the memory of %s, which the symmetric heap is on", nbytes,
                     static_cast<void*>(mapping), gpu.description().c_str()));
  if (to_share && (properties.handle_types & kHandlePosixFd) == 0)
    throw Error(
        text("the %zu bytes at %p cannot be given to other processes: they were allocated without "
             "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR in requestedHandleTypes",
             nbytes, static_cast<void*>(mapping)));
  memory.rdma_capable_ = properties.rdma_capable != 0;
  memory.fd_ = (properties.handle_types & kHandlePosixFd) != 0;
  memory.fabric_ = (properties.handle_types & kHandleFabric) != 0;
  return memory;
}

PhysicalMemory::PhysicalMemory(PhysicalMemory&& other) noexcept
    : gpu_(other.gpu_),
      handle_(std::exchange(other.handle_, 0)),
      nbytes_(std::exchange(other.nbytes_, 0)),
      rdma_capable_(other.rdma_capable_),
      fd_(other.fd_),
      fabric_(other.fabric_) {}

PhysicalMemory& PhysicalMemory::operator=(PhysicalMemory&& other) noexcept {
  std::swap(gpu_, other.gpu_);
  std::swap(handle_, other.handle_);
  std::swap(nbytes_, other.nbytes_);
  std::swap(rdma_capable_, other.rdma_capable_);
  std::swap(fd_, other.fd_);
  std::swap(fabric_, other.fabric_);
  return *this;
}

PhysicalMemory::~PhysicalMemory() {
  if (handle_ == 0) return;
  const ContextGuard guard(*gpu_, ContextGuard::For::cleanup);
  gpu_->log_failure(gpu_->driver().memory_release(handle_), "cuMemRelease");
}

UniqueFd PhysicalMemory::export_fd() const {
  const ContextGuard guard(*gpu_);
  int fd = -1;
  gpu_->check(gpu_->driver().memory_export(&fd, handle_, kHandlePosixFd, 0), "cuMemExportToShareableHandle");
  return UniqueFd(fd);
}

FabricHandle PhysicalMemory::export_fabric() const {
  const ContextGuard guard(*gpu_);
  FabricHandle fabric{};
  gpu_->check(gpu_->driver().memory_export(&fabric, handle_, kHandleFabric, 0), "cuMemExportToShareableHandle");
  return fabric;
}

}  // namespace railshmem::cuda

// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/shareable_memory.h"

#include <algorithm>
#include <utility>

#include "src/base/error.h"
#include "src/cuda/check.h"
#include "src/cuda/context_guard.h"
#include "src/cuda/user_memory.h"

namespace railshmem::cuda {
namespace {

constexpr const char* kWithout = "allocate the buffer with shmemx_mem_alloc or shmem_malloc";

/// What the driver says of how memory may be shared. Zeros where it says nothing.
struct Ways {
  unsigned ipc = 0;
  unsigned handle_types = 0;
  Pool pool = nullptr;
};

Ways ways_of(const Driver& driver, Address address) noexcept {
  Ways ways;
  std::array<PointerAttribute, 3> asked{PointerAttribute::ipc_capable, PointerAttribute::handle_types,
                                        PointerAttribute::pool};
  std::array<void*, 3> answers{&ways.ipc, &ways.handle_types, &ways.pool};
  // Drivers before 11.3 know no pool attribute, and have no memory of pools that could be shared.
  for (unsigned count = asked.size(); count > 0; --count)
    if (driver.pointer_attributes(count, asked.data(), answers.data(), address) == kSuccess) break;
  return ways;
}

void require_own_device_memory(const DeviceContext& gpu, const void* address, size_t nbytes) {
  if (address == nullptr) throw Error("the address is NULL");
  if (nbytes == 0 || nbytes > ~Address{0} - address_of(address))
    throw Error(text("%zu bytes at %p are no buffer", nbytes, address));
  const PointerInfo info = inspect(gpu.driver(), address);
  switch (info.kind) {
    case MemoryOf::host:
      throw Error(
          text("%p is no memory of a GPU: host memory, or freed; pass memory of cudaMalloc, cuMemCreate or "
               "shmemx_mem_alloc",
               address));
    case MemoryOf::pinned_host:
      throw Error(
          text("%p is pinned host memory; pass memory of cudaMalloc, cuMemCreate or shmemx_mem_alloc", address));
    case MemoryOf::managed:
      throw Error(
          text("%p is managed memory, which no other process can map; pass memory of cudaMalloc, cuMemCreate or "
               "shmemx_mem_alloc",
               address));
    case MemoryOf::device:
      break;
  }
  if (info.device != gpu.device())
    throw Error(text("%p is in the memory of another GPU (%d) than this PE's, %s", address, info.device,
                     gpu.description().c_str()));
}

}  // namespace

const char* name_of(ShareBy by) noexcept {
  switch (by) {
    case ShareBy::ipc:
      return "cudaMalloc memory";
    case ShareBy::fd:
      return "virtual memory";
    case ShareBy::fabric:
      return "virtual memory with fabric handles";
    case ShareBy::pool:
      return "memory of a pool";
  }
  return "memory";
}

ShareableMemory ShareableMemory::find(const DeviceContext& gpu, const void* address, size_t nbytes) {
  const ContextGuard guard(gpu);
  require_own_device_memory(gpu, address, nbytes);
  ShareableMemory found(gpu);
  const Ways ways = ways_of(gpu.driver(), address_of(address));
  if (ways.pool != nullptr) {
    found.take_pool_memory(address_of(address), nbytes, ways.pool);
  } else if (ways.ipc != 0) {
    found.take_block(address_of(address), nbytes);
  } else {
    found.take_virtual(const_cast<void*>(address), nbytes);
  }
  return found;
}

/// One allocation, which the range does not leave.
void ShareableMemory::take_allocation(Address address, size_t nbytes) {
  Extent whole{};
  gpu_->check(gpu_->driver().address_range(&whole.start, &whole.nbytes, address), "cuMemGetAddressRange");
  if (nbytes > whole.nbytes - (address - whole.start))
    throw Error(text("%zu bytes at %p reach beyond the end of their allocation, %zu bytes at %p", nbytes,
                     static_cast<void*>(pointer_to(address)), whole.nbytes,
                     static_cast<void*>(pointer_to(whole.start))));
  whole.id = memory_id(gpu_->driver(), whole.start);
  extents_.push_back(whole);
}

void ShareableMemory::take_block(Address address, size_t nbytes) {
  by_ = ShareBy::ipc;
  need(gpu_->driver(), Calls::ipc, "sharing cudaMalloc memory between processes", kWithout);
  take_allocation(address, nbytes);
  if (const Result result = gpu_->driver().ipc_get(&ipc_, start()); result != kSuccess)
    throw Error(text("the cudaMalloc memory at %p cannot be shared with other processes (CUDA IPC): %s%s; %s",
                     static_cast<void*>(pointer_to(address)), explain(gpu_->driver(), result).c_str(), hint(result),
                     kWithout));
}

void ShareableMemory::take_pool_memory(Address address, size_t nbytes, Pool pool) {
  by_ = ShareBy::pool;
  need(gpu_->driver(), Calls::pools, "sharing memory of pools between processes", kWithout);
  take_allocation(address, nbytes);
  pool_ = pool;
  export_pool();  // whether it can be
}

UniqueFd ShareableMemory::export_pool() const {
  const ContextGuard guard(*gpu_);
  int fd = -1;
  if (const Result result = gpu_->driver().pool_export(&fd, pool_, kHandlePosixFd, 0); result != kSuccess)
    throw Error(
        text("the memory at %p is of a pool (cudaMallocAsync) that cannot be shared: %s; make the pool with "
             "handleTypes cudaMemHandleTypePosixFileDescriptor (PyTorch: backend:native in "
             "PYTORCH_CUDA_ALLOC_CONF), or %s",
             static_cast<void*>(pointer_to(start())), explain(gpu_->driver(), result).c_str(), kWithout));
  return UniqueFd(fd);
}

void ShareableMemory::take_virtual(void* address, size_t nbytes) {
  UserMemory memory = find_user_memory(*gpu_, address, nbytes, false);
  const auto all = [&](bool (PhysicalMemory::*has)() const noexcept) {
    return std::all_of(memory.extents.begin(), memory.extents.end(),
                       [&](const auto& extent) { return (extent.*has)(); });
  };
  if (!all(&PhysicalMemory::has_fd) && !all(&PhysicalMemory::has_fabric_handle))
    throw Error(
        text("the %zu bytes at %p were allocated by cuMemCreate without CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR in "
             "requestedHandleTypes, so no other process can map them. PyTorch: "
             "expandable_segments:False in PYTORCH_CUDA_ALLOC_CONF allocates by cudaMalloc. Otherwise %s",
             nbytes, address, kWithout));
  by_ = all(&PhysicalMemory::has_fd) ? ShareBy::fd : ShareBy::fabric;
  Address at = address_of(address) - memory.offset;
  for (const PhysicalMemory& extent : memory.extents) {
    extents_.push_back({at, extent.nbytes(), memory_id(gpu_->driver(), at)});
    at += extent.nbytes();
  }
  physical_ = std::move(memory.extents);
}

bool ShareableMemory::intact(Address address, size_t size) const noexcept {
  const ContextGuard guard(*gpu_);
  const auto behind = std::upper_bound(extents_.begin(), extents_.end(), address,
                                       [](Address at, const Extent& extent) { return at < extent.start; });
  for (auto extent = std::prev(behind); extent != extents_.end() && extent->start < address + size; ++extent)
    if (memory_id(gpu_->driver(), extent->start) != extent->id) return false;
  return true;
}

std::vector<ShareDescriptor> ShareableMemory::descriptors(size_t first, size_t count, FdOffers& offers,
                                                          std::vector<FdOffer>& offered) const {
  std::vector<ShareDescriptor> descriptors;
  for (size_t i = first; i < first + count; ++i) {
    ShareDescriptor descriptor;
    descriptor.nbytes = extents_[i].nbytes;
    if (by_ == ShareBy::ipc) descriptor.handle = ipc_.bytes;
    if (by_ == ShareBy::fabric) descriptor.handle = physical_[i].export_fabric().bytes;
    if (by_ == ShareBy::fd) offered.push_back(offers.offer(physical_[i].export_fd()));
    if (by_ == ShareBy::pool) {
      const ContextGuard guard(*gpu_);
      PoolPointer exported{};
      gpu_->check(gpu_->driver().pool_export_pointer(&exported, start()), "cuMemPoolExportPointer");
      descriptor.handle = exported.bytes;
      descriptor.pool = reinterpret_cast<uintptr_t>(pool_);
      offered.push_back(offers.offer(export_pool()));
    }
    if (by_ == ShareBy::fd || by_ == ShareBy::pool) descriptor.fd = offered.back().ticket();
    descriptors.push_back(descriptor);
  }
  return descriptors;
}

}  // namespace railshmem::cuda

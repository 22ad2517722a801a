// SPDX-License-Identifier: BSD-3-Clause
// GPU memory of every kind that a program may have allocated itself, on the fake driver or a real one.
#pragma once

#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/cuda/driver.h"
#include "tests/gpu/fake_driver/fake_driver.h"

namespace railshmem::test {

/// Functions of the driver that programs call and the library does not.
struct ProgramCalls {
  cuda::Result (*alloc)(cuda::Address*, size_t nbytes) = nullptr;                   // cuMemAlloc_v2
  cuda::Result (*pool_create)(cuda::Pool*, const cuda::PoolProperties*) = nullptr;  // cuMemPoolCreate
  cuda::Result (*pool_alloc)(cuda::Address*, size_t nbytes, cuda::Pool,
                             cuda::Stream) = nullptr;                                  // cuMemAllocFromPoolAsync
  cuda::Result (*async_alloc)(cuda::Address*, size_t nbytes, cuda::Stream) = nullptr;  // cuMemAllocAsync
  cuda::Result (*async_free)(cuda::Address, cuda::Stream) = nullptr;                   // cuMemFreeAsync

  /// From `find`, which returns the function of a name.
  template <class Find>
  static ProgramCalls by_name(Find&& find) {
    ProgramCalls calls;
    const auto take = [&](auto& call, const char* symbol) {
      call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(find(symbol));
    };
    take(calls.alloc, "cuMemAlloc_v2");
    take(calls.pool_create, "cuMemPoolCreate");
    take(calls.pool_alloc, "cuMemAllocFromPoolAsync");
    take(calls.async_alloc, "cuMemAllocAsync");
    take(calls.async_free, "cuMemFreeAsync");
    return calls;
  }
};

enum class Allocator : uint8_t { block, extents, pool };
inline constexpr Allocator kAllocators[] = {Allocator::block, Allocator::extents, Allocator::pool};
inline const char* name_of(Allocator kind) {
  return kind == Allocator::block ? "cudaMalloc" : kind == Allocator::extents ? "cuMemCreate" : "pool";
}

/// The current device's. Freed when destroyed. Every step that fails throws Error.
class ProgramMemory {
 public:
  static constexpr size_t kExtent = size_t{2} << 20;

  /// extents: as many of 2 MiB as hold `nbytes`. `handle_types` does not concern cudaMalloc.
  ProgramMemory(const cuda::Driver& driver, const ProgramCalls& calls, Allocator kind, size_t nbytes,
                int handle_types = cuda::kHandlePosixFd)
      : driver_(driver), calls_(calls), kind_(kind) {
    cuda::Device device = 0;
    must(driver.context_device(&device), "cuCtxGetDevice");
    if (kind == Allocator::block) must(calls.alloc(&address_, nbytes), "cuMemAlloc");
    if (kind == Allocator::pool) {
      cuda::PoolProperties properties;
      properties.location.id = device;
      properties.handle_types = handle_types;
      must(calls.pool_create(&pool_, &properties), "cuMemPoolCreate");
      must(calls.pool_alloc(&address_, nbytes, pool_, nullptr), "cuMemAllocFromPoolAsync");
      must(driver.stream_synchronize(nullptr), "cuStreamSynchronize");
    }
    if (kind != Allocator::extents) return;
    handles_.resize((nbytes + kExtent - 1) / kExtent);
    must(driver.address_reserve(&address_, handles_.size() * kExtent, 0, 0, 0), "cuMemAddressReserve");
    for (size_t i = 0; i < handles_.size(); ++i) map(i, device, handle_types);
  }
  ~ProgramMemory() {
    if (kind_ == Allocator::block) driver_.memory_free(address_);
    if (kind_ == Allocator::pool) {
      calls_.async_free(address_, nullptr);
      driver_.stream_synchronize(nullptr);
      driver_.pool_destroy(pool_);
    }
    for (size_t i = 0; i < handles_.size(); ++i) unmap(i);
    if (kind_ == Allocator::extents) driver_.address_free(address_, handles_.size() * kExtent);
  }
  ProgramMemory(const ProgramMemory&) = delete;

  std::byte* at(size_t offset = 0) const { return cuda::pointer_to(address_) + offset; }
  /// Of extents: other memory comes under the addresses of extent number `i`.
  void replace(size_t i) {
    cuda::Device device = 0;
    must(driver_.context_device(&device), "cuCtxGetDevice");
    unmap(i);
    map(i, device, cuda::kHandlePosixFd);
  }

 private:
  static void must(cuda::Result result, const char* call) {
    if (result != cuda::kSuccess) throw Error(text("%s gives %d", call, result));
  }
  void map(size_t i, cuda::Device device, int handle_types) {
    cuda::AllocationProperties properties;
    properties.location.id = device;
    properties.handle_types = handle_types;
    const cuda::Address at = address_ + i * kExtent;
    const cuda::AccessDescription access{{cuda::kAtDevice, device}, cuda::kReadWrite};
    must(driver_.memory_create(&handles_[i], kExtent, &properties, 0), "cuMemCreate");
    must(driver_.memory_map(at, kExtent, 0, handles_[i], 0), "cuMemMap");
    must(driver_.memory_set_access(at, kExtent, &access, 1), "cuMemSetAccess");
  }
  void unmap(size_t i) {
    driver_.memory_unmap(address_ + i * kExtent, kExtent);
    driver_.memory_release(handles_[i]);
  }

  const cuda::Driver& driver_;
  const ProgramCalls& calls_;
  const Allocator kind_;
  cuda::Address address_ = 0;
  cuda::Pool pool_ = nullptr;
  std::vector<cuda::MemoryHandle> handles_;
};

}  // namespace railshmem::test

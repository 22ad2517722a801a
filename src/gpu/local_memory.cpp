// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/local_memory.h"

#include <algorithm>
#include <utility>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/cuda/check.h"
#include "src/cuda/context_guard.h"

namespace railshmem {
namespace {

constexpr size_t kGranule = size_t{2} << 20;

}  // namespace

size_t LocalMemory::rounded(const cuda::DeviceContext& gpu, size_t nbytes) {
  if (nbytes == 0) throw Error("0 bytes are no memory");
  const size_t granule = std::max(kGranule, gpu.capabilities().granularity);
  if (nbytes > ~size_t{0} - granule) throw Error(text("%zu bytes are more than a GPU can have", nbytes));
  return align_up(nbytes, granule);
}

std::byte* LocalMemory::allocate(size_t nbytes) {
  const size_t whole = rounded(gpu_, nbytes);
  const cuda::PhysicalMemory memory = cuda::PhysicalMemory::create(gpu_, whole);
  auto range = std::make_unique<cuda::MappedRange>(gpu_, whole, cuda::MappedFor::all_gpus);
  range->append(memory);
  std::byte* const base = range->base();
  {
    // A plain cudaMemcpy may return before the bytes are there, and a NIC would send the old ones.
    const cuda::ContextGuard guard(gpu_);
    const unsigned yes = 1;
    const cuda::Result result =
        gpu_.driver().set_pointer_attribute(&yes, cuda::PointerAttribute::sync_memops, cuda::address_of(base));
    gpu_.log_failure(result, "cuPointerSetAttribute");
  }
  const std::lock_guard held(mutex_);
  ranges_.emplace(base, std::move(range));
  return base;
}

void LocalMemory::require(const void* address) const {
  const std::lock_guard held(mutex_);
  if (ranges_.count(static_cast<const std::byte*>(address)) == 0)
    throw Error(text("%p was not returned by shmemx_mem_alloc, or is freed already", address));
}

void LocalMemory::release(const void* address) {
  std::unique_ptr<cuda::MappedRange> gone;
  const std::lock_guard held(mutex_);
  const auto found = ranges_.find(static_cast<const std::byte*>(address));
  if (found == ranges_.end()) return;
  gone = std::move(found->second);
  ranges_.erase(found);
}

}  // namespace railshmem

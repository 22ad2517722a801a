// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/device_arena.h"

#include <algorithm>
#include <bit>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/cuda/check.h"
#include "src/cuda/context_guard.h"

namespace railshmem::cuda {
namespace {

[[noreturn]] void refuse_addresses(size_t nslots, size_t stride, const std::string& why) {
  throw Error(
      text("cannot reserve %zu slots of %zu bytes of addresses for device heaps: %s; lower "
           "SHMEM_SYMMETRIC_SIZE or raise the limit on virtual memory (ulimit -v)",
           nslots, stride, why.c_str()));
}

}  // namespace

DeviceArena::DeviceArena(const Driver& driver, size_t nslots, size_t stride)
    : driver_(driver), nslots_(nslots), stride_(stride) {
  need(driver, Calls::memory, "a device heap", "set SHMEM_HEAP_KIND to host");
  if (nslots == 0 || stride == 0 || stride % kAlign != 0)
    throw Error(text("device arena of %zu slots of %zu bytes; the slot size must be a multiple of %zu", nslots, stride,
                     kAlign));
  reserve();
}

DeviceArena::DeviceArena(const DeviceContext& gpu, size_t nslots, size_t stride)
    : DeviceArena(gpu.driver(), nslots, stride) {
  attach(gpu);
}

void DeviceArena::attach(const DeviceContext& gpu) {
  if (const size_t unit = gpu.capabilities().granularity; unit == 0 || stride_ % unit != 0)
    throw Error(text("device arena of %zu slots of %zu bytes; the slot size must be a multiple of %zu on %s", nslots_,
                     stride_, unit, gpu.description().c_str()));
  for (const LocalDevice& other : local_devices(driver_)) {
    if (can_reach(driver_, other.device, gpu.device())) {
      own_access_.push_back({{kAtDevice, other.device}, kReadWrite});
    } else {
      log_debug("%s does not reach the memory of %s", other.description.c_str(), gpu.description().c_str());
      without_access_.push_back(other.description);
    }
  }
  gpu_ = &gpu;
}

void DeviceArena::reserve() {
  const size_t align = alignment();
  size_t nbytes = 0;
  size_t padded = 0;
  if (__builtin_mul_overflow(nslots_, stride_, &nbytes) || __builtin_add_overflow(nbytes, align, &padded))
    refuse_addresses(nslots_, stride_, "more than the machine can address");
  reserved_nbytes_ = nbytes;
  Result result = driver_.address_reserve(&reserved_, nbytes, align, 0, 0);
  if (result == kSuccess && reserved_ % align != 0) {
    driver_.address_free(reserved_, nbytes);
    result = kNotSupported;
  }
  if (result != kSuccess) {
    // Drivers differ in which alignments beyond their granularity they keep; unlike mmap, a part cannot be given back.
    reserved_nbytes_ = padded;
    result = driver_.address_reserve(&reserved_, padded, 0, 0, 0);
  }
  if (result != kSuccess) refuse_addresses(nslots_, stride_, explain(driver_, result));
  base_ = pointer_to(align_up(reserved_, align));
}

DeviceArena::~DeviceArena() {
  for (const Extent& extent : extents_) unmap_extent(extent);
  const Result result = driver_.address_free(reserved_, reserved_nbytes_);
  if (gpu_ != nullptr) gpu_->log_failure(result, "cuMemAddressFree");
}

size_t DeviceArena::stride_for(size_t nbytes) noexcept {
  return align_up(nbytes, std::clamp(std::bit_ceil(nbytes), kAlign, kMaxAlign));
}

size_t DeviceArena::alignment() const noexcept {
  return std::min(stride_ & (~stride_ + 1), kMaxAlign);
}

std::byte* DeviceArena::map(size_t slot, size_t at, const PhysicalMemory& memory,
                            const std::vector<AccessDescription>& access) {
  const size_t nbytes = memory.nbytes();
  if (slot >= nslots_ || nbytes == 0 || at > stride_ || nbytes > stride_ - at)
    throw Error(text("%zu bytes at %zu of slot %zu of the device heaps do not fit: %zu slots of %zu bytes", nbytes, at,
                     slot, nslots_, stride_));
  extents_.reserve(extents_.size() + 1);
  const ContextGuard guard(*gpu_);
  const Driver& driver = driver_;
  std::byte* const mapped = address(slot, at);
  if (const Result result = driver.memory_map(address_of(mapped), nbytes, 0, memory.handle(), 0); result != kSuccess)
    throw Error(text("cannot map %zu bytes of device memory at %zu of slot %zu on %s: %s%s", nbytes, at, slot,
                     gpu_->description().c_str(), explain(driver, result).c_str(), hint(result)));
  const Result allowed = driver.memory_set_access(address_of(mapped), nbytes, access.data(), access.size());
  if (allowed != kSuccess) {
    unmap_extent({slot, at, nbytes});
    throw Error(text("%s gets no access to %zu bytes of device memory of slot %zu: %s%s", gpu_->description().c_str(),
                     nbytes, slot, explain(driver, allowed).c_str(), hint(allowed)));
  }
  extents_.push_back({slot, at, nbytes});
  return mapped;
}

std::byte* DeviceArena::map_own(size_t slot, size_t at, const PhysicalMemory& memory) {
  std::byte* const mapped = map(slot, at, memory, own_access_);
  // A plain cudaMemcpy may return before the bytes are there, and a NIC would send the old ones.
  const ContextGuard guard(*gpu_);
  const unsigned yes = 1;
  const Result result = driver_.set_pointer_attribute(&yes, PointerAttribute::sync_memops, address_of(mapped));
  if (result != kSuccess)
    log_debug("%s does not order copies to the device heap for NICs: %s (%d)", gpu_->description().c_str(),
              words(driver_, result), result);
  return mapped;
}

std::byte* DeviceArena::map_peer(size_t slot, size_t at, const PhysicalMemory& memory) {
  return map(slot, at, memory, {{{kAtDevice, gpu_->device()}, kReadWrite}});
}

void DeviceArena::unmap(size_t slot) {
  if (slot >= nslots_) throw Error(text("slot %zu of %zu of the device heaps", slot, nslots_));
  for (const Extent& extent : extents_)
    if (extent.slot == slot) unmap_extent(extent);
  std::erase_if(extents_, [slot](const Extent& extent) { return extent.slot == slot; });
}

void DeviceArena::unmap(size_t slot, size_t at) {
  const auto found = std::find_if(extents_.begin(), extents_.end(),
                                  [&](const Extent& extent) { return extent.slot == slot && extent.at == at; });
  if (found == extents_.end()) throw Error(text("nothing is mapped at %zu of slot %zu of the device heaps", at, slot));
  unmap_extent(*found);
  extents_.erase(found);
}

void DeviceArena::unmap_extent(const Extent& extent) noexcept {
  const ContextGuard guard(*gpu_, ContextGuard::For::cleanup);
  gpu_->log_failure(driver_.memory_unmap(address_of(address(extent.slot, extent.at)), extent.nbytes), "cuMemUnmap");
}

}  // namespace railshmem::cuda

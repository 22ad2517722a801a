// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/shared_allocations.h"

#include <algorithm>
#include <utility>

namespace railshmem {

/// Memory that was freed has another id, and is nobody's.
Shared SharedAllocations::known(cuda::Address address, size_t nbytes) const {
  for (const Shared& one : held_)
    if (one->memory.holds(address, nbytes) && one->memory.intact(address, nbytes)) return one;
  return nullptr;
}

Shared SharedAllocations::hold(const void* address, size_t nbytes) {
  const std::lock_guard locked(mutex_);
  Shared allocation = nbytes == 0 ? nullptr : known(cuda::address_of(address), nbytes);
  if (allocation == nullptr) {
    cuda::ShareableMemory memory = cuda::ShareableMemory::find(gpu_, address, nbytes);
    held_.reserve(held_.size() + 1);
    allocation = std::make_shared<SharedAllocation>(std::move(memory), last_number_ + 1, slots_);
    ++last_number_;
    held_.push_back(allocation);
  }
  ++allocation->holders;
  return allocation;
}

void SharedAllocations::hold_too(SharedAllocation& allocation) {
  const std::lock_guard locked(mutex_);
  ++allocation.holders;
}

bool SharedAllocations::let_go(const SharedAllocation& allocation) {
  Shared last;  // destroyed after the lock is free: the driver works then
  const std::lock_guard locked(mutex_);
  const auto found =
      std::find_if(held_.begin(), held_.end(), [&](const Shared& one) { return one.get() == &allocation; });
  if (found == held_.end() || --(*found)->holders > 0) return false;
  last = std::move(*found);
  held_.erase(found);
  return true;
}

Shared SharedAllocations::of_number(uint64_t number) const {
  const std::lock_guard locked(mutex_);
  const auto found = std::find_if(held_.begin(), held_.end(), [&](const Shared& one) { return one->number == number; });
  return found == held_.end() ? nullptr : *found;
}

size_t SharedAllocations::count() const {
  const std::lock_guard locked(mutex_);
  return held_.size();
}

bool SharedAllocations::note_capture(SharedAllocation& allocation, uint64_t capture) {
  const std::lock_guard locked(mutex_);
  if (allocation.last_capture == capture) return false;
  allocation.last_capture = capture;
  ++allocation.holders;
  return true;
}

void SharedAllocations::forget_capture(SharedAllocation& allocation) {
  const std::lock_guard locked(mutex_);
  allocation.last_capture = 0;
  --allocation.holders;
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/arena.h"

#include <algorithm>
#include <new>

namespace railshmem::python {

void* Arena::take(size_t nbytes) noexcept {
  const std::lock_guard lock(mutex_);
  const size_t size = (std::max<size_t>(nbytes, 1) + kAlign - 1) / kAlign * kAlign;
  if (size < nbytes) return nullptr;
  const auto hole =
      std::find_if(free_.begin(), free_.end(), [&](const auto& candidate) { return candidate.second >= size; });
  if (hole == free_.end()) return nullptr;
  const auto [address, room] = *hole;
  try {
    taken_[address] = size;
    if (room > size) free_[address + size] = room - size;
  } catch (const std::bad_alloc&) {
    taken_.erase(address);
    return nullptr;
  }
  free_.erase(address);
  return reinterpret_cast<void*>(address);
}

bool Arena::give_back(uintptr_t address) noexcept {
  const std::lock_guard lock(mutex_);
  const auto piece = taken_.find(address);
  if (piece == taken_.end()) return false;
  const auto hole = free_.insert(taken_.extract(piece)).position;  // moves the node: allocates nothing
  join(hole);
  return true;
}

/// Holes that touch become one.
void Arena::join(std::map<uintptr_t, size_t>::iterator hole) {
  if (const auto next = std::next(hole); next != free_.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    free_.erase(next);
  }
  if (hole == free_.begin()) return;
  if (const auto before = std::prev(hole); before->first + before->second == hole->first) {
    before->second += hole->second;
    free_.erase(hole);
  }
}

void Arena::close() noexcept {
  const std::lock_guard lock(mutex_);
  free_.clear();
  taken_.clear();
}

}  // namespace railshmem::python

// SPDX-License-Identifier: BSD-3-Clause
#include "src/heap/heap.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "src/base/align.h"
#include "src/base/error.h"

namespace railshmem {

Heap::Heap(HostMemory memory, std::byte* base, size_t header_nbytes, size_t base_alignment)
    : memory_(std::move(memory)),
      offsets_(memory_.nbytes()),
      header_nbytes_(align_up(header_nbytes, OffsetAllocator::kGranule)),
      base_alignment_(base_alignment) {
  if (!is_power_of_two(base_alignment) || reinterpret_cast<uintptr_t>(base) % base_alignment != 0)
    throw Error(text("heap base %p is not aligned to %zu", static_cast<void*>(base), base_alignment));
  memory_.place(base);
  if (header_nbytes == 0) return;
  if (!offsets_.allocate(header_nbytes))
    throw Error(text("a heap of %zu bytes has no room for the %zu bytes the library needs; raise SHMEM_SYMMETRIC_SIZE",
                     memory_.nbytes(), header_nbytes));
  populated_ = align_down(header_nbytes_, HostMemory::kAlign);
}

void* Heap::allocate(size_t nbytes, size_t align) {
  if (align > base_alignment_) return nullptr;
  const auto offset = offsets_.allocate(nbytes, align);
  if (!offset) return nullptr;
  try {
    populate_to(*offset + offsets_.size_of(*offset));
  } catch (...) {
    offsets_.release(*offset);
    throw;
  }
  return base() + *offset;
}

bool Heap::release(void* object) {
  if (object == nullptr) return true;
  if (size_of(object) == 0) return false;
  return offsets_.release(offset_of(object));
}

size_t Heap::size_of(const void* object) const noexcept {
  if (!contains(object)) return 0;
  const size_t offset = offset_of(object);
  return offset < header_nbytes_ ? 0 : offsets_.size_of(offset);
}

std::optional<OffsetAllocator::Extent> Heap::find(const void* address) const noexcept {
  if (!contains(address) || offset_of(address) < header_nbytes_) return std::nullopt;
  return offsets_.find(offset_of(address));
}

void* Heap::resize(void* object, size_t nbytes, size_t align) {
  const size_t had = size_of(object);
  if (had == 0 || nbytes == 0) return nullptr;
  const size_t offset = offset_of(object);
  if (offsets_.try_resize(offset, nbytes)) {
    try {
      populate_to(offset + offsets_.size_of(offset));
    } catch (...) {
      offsets_.try_resize(offset, had);
      throw;
    }
    return object;
  }
  void* moved = allocate(nbytes, align);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, object, std::min(had, nbytes));
  release(object);
  return moved;
}

bool Heap::contains(const void* address) const noexcept {
  return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(base()) < nbytes();
}

size_t Heap::offset_of(const void* address) const noexcept {
  return static_cast<size_t>(static_cast<const std::byte*>(address) - base());
}

void Heap::populate_to(size_t end) {
  if (end <= populated_) return;
  // By whole huge pages: transparent ones come in that size anyway, and small allocations do not each cost a call.
  const size_t target = std::min(align_up(end, HostMemory::kAlign), nbytes());
  std::optional<NoMemory> lack;
  try {
    memory_.populate(populated_, target - populated_);
  } catch (const Error& e) {
    lack.emplace(e.what(), true);
  }
  // All PEs come here together, since their heaps are alike.
  if (all_agree_ && !all_agree_(!lack) && !lack) lack.emplace("another PE has no memory for it", false);
  if (lack) {
    // Not the header's last page.
    const size_t unused = std::max(populated_, align_up(header_nbytes_, HostMemory::kAlign));
    if (unused < target) memory_.drop_pages(unused, target - unused);
    throw *lack;
  }
  populated_ = target;
}

}  // namespace railshmem

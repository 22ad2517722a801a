// SPDX-License-Identifier: BSD-3-Clause
// The symmetric heap of one PE: its memory and which parts of it are in use.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "src/base/error.h"
#include "src/heap/host_memory.h"
#include "src/heap/offset_allocator.h"

namespace railshmem {

/// The system of some PE lacks the memory that an allocation needs.
struct NoMemory : Error {
  NoMemory(const std::string& why, bool is_here) : Error(why), here(is_here) {}
  bool here;  ///< this PE lacks it
};

/// PEs that make one sequence of calls get one sequence of offsets. Not thread-safe: callers serialise.
///
///     HostMemory memory(nbytes, mode);
///     std::byte* base = arena.map_own(slot, memory.fd(), memory.nbytes());
///     Heap heap(std::move(memory), base, header_nbytes, arena.alignment());
class Heap {
 public:
  /// The first `header_nbytes` are the library's own: zero, never handed out, and backed by memory only where they were
  /// populated. `base_alignment` divides the base on every PE; it is the largest `align` that allocate() takes.
  Heap(HostMemory memory, std::byte* base, size_t header_nbytes, size_t base_alignment = HostMemory::kAlign);

  /// Makes sure that a part of the header is backed by memory. Throws Error.
  void populate_header(size_t offset, size_t nbytes) { memory_.populate(offset, nbytes); }

  /// From now on all PEs get new pages or none. `all_agree` is collective: whether it was called with true on all PEs.
  void vote_on_pages(std::function<bool(bool)> all_agree) { all_agree_ = std::move(all_agree); }

  /// Returns populated memory that never moves; its content is undefined. Returns nullptr, on all PEs, for 0 bytes, for
  /// an `align` that is no power of two or above base_alignment, or when no room is left. Throws NoMemory,
  /// on all PEs after vote_on_pages(), when there is room but the system lacks the memory. The heap is as before.
  void* allocate(size_t nbytes, size_t align = OffsetAllocator::kGranule);
  /// Frees an object. False when `object` is not from allocate(), or was released already; true for nullptr.
  bool release(void* object);
  /// Usable bytes; 0 when `object` is not an allocation.
  size_t size_of(const void* object) const noexcept;
  /// The allocation that holds `address`, by its offset from base(); empty when no allocation does.
  std::optional<OffsetAllocator::Extent> find(const void* address) const noexcept;
  /// Grows or shrinks an object, in place when possible, otherwise by copying to a new place aligned to `align`.
  /// Returns nullptr when neither is possible; the object is then unchanged. Throws like allocate().
  void* resize(void* object, size_t nbytes, size_t align = OffsetAllocator::kGranule);

  /// Whether the segment, the header included, holds `address`.
  bool contains(const void* address) const noexcept;
  /// Offset from base() of an address that the segment contains.
  size_t offset_of(const void* address) const noexcept;

  std::byte* base() const noexcept { return memory_.base(); }
  size_t nbytes() const noexcept { return memory_.nbytes(); }
  /// Bytes at the start that are the library's own.
  size_t header_nbytes() const noexcept { return header_nbytes_; }
  int fd() const noexcept { return memory_.fd(); }
  const HostMemory& memory() const noexcept { return memory_; }
  /// At the job's end: see HostMemory.
  void drop_pages() noexcept { memory_.drop_pages(); }
  const OffsetAllocator& offsets() const noexcept { return offsets_; }
  /// Everything below this offset has pages.
  size_t populated() const noexcept { return populated_; }

 private:
  void populate_to(size_t end);

  HostMemory memory_;
  OffsetAllocator offsets_;
  size_t header_nbytes_;
  size_t base_alignment_;
  size_t populated_ = 0;
  std::function<bool(bool)> all_agree_;  ///< empty: no vote
};

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
// The symmetric heap of one PE: its memory and which parts of it are in use.
#pragma once

#include <cstddef>

#include "src/heap/host_memory.h"
#include "src/heap/offset_allocator.h"

namespace railshmem {

/// The same sequence of calls gives the same offsets on every PE. Not thread-safe: callers serialise.
///
///     HostMemory memory(nbytes, mode);
///     std::byte* base = arena.map_own(slot, memory.fd(), memory.nbytes());
///     Heap heap(std::move(memory), base, header_nbytes, arena.alignment());
class Heap {
 public:
  /// The first `header_nbytes` are the library's own: zero, never handed out, and memory only where it was populated.
  /// `base_alignment` divides the base on every PE; it bounds what allocate() can promise.
  Heap(HostMemory memory, std::byte* base, size_t header_nbytes, size_t base_alignment = HostMemory::kAlign);

  /// Makes sure that a part of the header is backed by memory. Throws Error.
  void populate_header(size_t offset, size_t nbytes) { memory_.populate(offset, nbytes); }

  /// Memory that stays where it is, populated; the content is whatever was there before. nullptr, on all PEs alike,
  /// for 0 bytes, an `align` that is no power of two or above base_alignment, or when no room is left.
  /// Throws Error when the room is there but the system lacks the memory; only this PE knows then, the heap is as
  /// before.
  void* allocate(size_t nbytes, size_t align = OffsetAllocator::kGranule);
  /// False when `object` is not from allocate(), or was released already. Releasing nullptr does nothing, true.
  bool release(void* object);
  /// Usable bytes; 0 when `object` is not an allocation.
  size_t size_of(const void* object) const noexcept;
  /// Grows or shrinks, where it is when possible, otherwise by copying to a new place aligned to `align`.
  /// nullptr leaves the object as it was. Throws like allocate().
  void* resize(void* object, size_t nbytes, size_t align = OffsetAllocator::kGranule);

  /// Any address of the segment, the control area included.
  bool contains(const void* address) const noexcept;
  /// Offset from base() of an address that the segment contains.
  size_t offset_of(const void* address) const noexcept;

  std::byte* base() const noexcept { return memory_.base(); }
  size_t nbytes() const noexcept { return memory_.nbytes(); }
  /// Bytes at the start that are the library's own.
  size_t header_nbytes() const noexcept { return header_nbytes_; }
  int fd() const noexcept { return memory_.fd(); }
  const HostMemory& memory() const noexcept { return memory_; }
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
};

}  // namespace railshmem

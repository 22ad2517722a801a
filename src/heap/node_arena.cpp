// SPDX-License-Identifier: BSD-3-Clause
#include "src/heap/node_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/system_limits.h"

namespace railshmem {
namespace {

constexpr int kReserveFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

size_t slot_alignment(size_t stride) {
  return std::min(stride & (~stride + 1), NodeArena::kMaxAlign);
}

[[noreturn]] void refuse_range(size_t nslots, size_t stride, const char* why) {
  throw Error(text("cannot reserve %zu slots of %zu bytes of address space: %s; lower SHMEM_SYMMETRIC_SIZE%s", nslots,
                   stride, why, memory_limits().c_str()));
}

std::byte* reserve(size_t nslots, size_t stride) {
  const size_t align = slot_alignment(stride);
  size_t nbytes = 0;
  size_t padded = 0;
  if (__builtin_mul_overflow(nslots, stride, &nbytes) || __builtin_add_overflow(nbytes, align, &padded))
    refuse_range(nslots, stride, "more than the machine can address");
  void* found = mmap(nullptr, padded, PROT_NONE, kReserveFlags, -1, 0);
  if (found == MAP_FAILED) refuse_range(nslots, stride, std::strerror(errno));
  // mmap aligns to a page only: keep the aligned part, give back what is before and behind it.
  auto* start = static_cast<std::byte*>(found);
  const size_t before = align_up(reinterpret_cast<uintptr_t>(start), align) - reinterpret_cast<uintptr_t>(start);
  if (before != 0) munmap(start, before);
  if (before != align) munmap(start + before + nbytes, align - before);
  return start + before;
}

void check_shape(size_t nslots, size_t stride) {
  if (nslots == 0 || stride == 0 || stride % NodeArena::kAlign != 0)
    throw Error(text("node arena of %zu slots of %zu bytes; the slot size must be a multiple of %zu", nslots, stride,
                     NodeArena::kAlign));
}

}  // namespace

NodeArena::NodeArena(size_t nslots, size_t stride) : nslots_(nslots), stride_(stride) {
  check_shape(nslots, stride);
  base_ = reserve(nslots, stride);
}

std::optional<NodeArena> NodeArena::reserve_at(uintptr_t base, size_t nslots, size_t stride) {
  check_shape(nslots, stride);
  size_t nbytes = 0;
  if (base % slot_alignment(stride) != 0 || __builtin_mul_overflow(nslots, stride, &nbytes)) return std::nullopt;
  auto* const wanted = reinterpret_cast<void*>(base);
  // A hint: the kernel maps elsewhere where the range is in use. With MAP_FIXED_NOREPLACE ThreadSanitizer, which shifts
  // addresses that a program under it cannot have, would end the program.
  void* found = mmap(wanted, nbytes, PROT_NONE, kReserveFlags, -1, 0);
  if (found == MAP_FAILED) return std::nullopt;
  if (found == wanted) return NodeArena(static_cast<std::byte*>(found), nslots, stride);
  munmap(found, nbytes);
  return std::nullopt;
}

NodeArena::NodeArena(NodeArena&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      nslots_(std::exchange(other.nslots_, 0)),
      stride_(std::exchange(other.stride_, 0)) {}

NodeArena& NodeArena::operator=(NodeArena&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(nslots_, other.nslots_);
  std::swap(stride_, other.stride_);
  return *this;
}

NodeArena::~NodeArena() {
  if (base_ != nullptr) munmap(base_, nslots_ * stride_);
}

size_t NodeArena::stride_for(size_t nbytes) noexcept {
  return align_up(nbytes, std::clamp(std::bit_ceil(nbytes), kAlign, kMaxAlign));
}

size_t NodeArena::alignment() const noexcept {
  return slot_alignment(stride_);
}

std::byte* NodeArena::map(size_t slot, int fd, size_t nbytes, size_t at) {
  if (slot >= nslots_ || nbytes == 0 || at > stride_ || nbytes > stride_ - at)
    throw Error(
        text("%zu bytes at %zu of slot %zu do not fit: %zu slots of %zu bytes", nbytes, at, slot, nslots_, stride_));
  void* mapped = mmap(address(slot, at), nbytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  if (mapped == MAP_FAILED)
    throw Error(text("cannot map %zu bytes of shared memory for slot %zu: %s; lower SHMEM_SYMMETRIC_SIZE%s", nbytes,
                     slot, std::strerror(errno), memory_limits().c_str()));
  return static_cast<std::byte*>(mapped);
}

std::byte* NodeArena::map_own(size_t slot, int fd, size_t nbytes, size_t at) {
  return map(slot, fd, nbytes, at);
}

std::byte* NodeArena::map_peer(size_t slot, int fd, size_t nbytes, size_t at) {
  std::byte* mapped = map(slot, fd, nbytes, at);
  // Every PE would dump every other PE's memory otherwise: npes times npes times the heap.
  madvise(mapped, nbytes, MADV_DONTDUMP);
  return mapped;
}

void NodeArena::unmap(size_t slot) {
  if (slot >= nslots_) throw Error(text("slot %zu of %zu", slot, nslots_));
  void* reserved = mmap(address(slot), stride_, PROT_NONE, kReserveFlags | MAP_FIXED, -1, 0);
  check_errno(reserved != MAP_FAILED, "mmap of an empty slot");
}

}  // namespace railshmem

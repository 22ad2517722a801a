// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/symmetric_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/quantity.h"
#include "src/collective/agree.h"
#include "src/collective/collectives.h"
#include "src/rma/ordering.h"

namespace railshmem {

SymmetricMemory::SymmetricMemory(Team& world, Heap& heap, DeviceMemory* device, std::function<void()> attach) noexcept
    : world_(world), state_(world.state), heap_(heap), device_(device), attach_(std::move(attach)) {
  heap_.vote_on_pages([this](bool mine) { return all_agree(world_, "shmem_malloc", mine); });
}

void SymmetricMemory::barrier(const char* function) noexcept {
  quiet(state_, state_.default_context);
  sync(world_, function);
}

/// All PEs fail together, so one warns: PE 0, or the one that lacks memory. It warns once, because a program may try
/// smaller sizes until one fits.
void SymmetricMemory::say_full(const std::string& why, bool warns) noexcept {
  if (said_full_ || !warns) return log_info("%s", why.c_str());
  said_full_ = true;
  log_warn("%s; every PE gets NULL. this is printed once, later failures only with SHMEM_DEBUG=info", why.c_str());
}

void SymmetricMemory::say_host_full(const char* function, size_t nbytes) {
  constexpr uint64_t kMiB = 1u << 20;
  const uint64_t used = heap_.offsets().bytes_used() - heap_.header_nbytes();
  const uint64_t has = heap_.nbytes() - heap_.header_nbytes();
  const bool scattered = nbytes <= has - used;  // or aligned beyond what the free pieces offer
  const uint64_t enough = nbytes < SIZE_MAX / 2 ? ((scattered ? has : used) + nbytes + kMiB - 1) / kMiB : 0;
  say_full(
      text("%s: %s (%zu bytes) do not fit: %s of the %s of symmetric heap are in use%s; %s", function,
           memory_size(nbytes).c_str(), nbytes, memory_size(used).c_str(), memory_size(has).c_str(),
           scattered ? ", and no free piece is long enough for this size and alignment" : "",
           enough ? text("set SHMEM_SYMMETRIC_SIZE to %lluM or more", static_cast<unsigned long long>(enough)).c_str()
                  : "check the size"),
      state_.me == 0);
}

void* SymmetricMemory::place_on_device(size_t nbytes, size_t align, bool zero, Updates updates) {
  attach_();  // where it is not, or it could not
  void* const object = device_->allocate(nbytes, align, updates);
  if (object && zero) device_->copies().fill(object, 0, nbytes);
  return object;
}

void* SymmetricMemory::allocate(const char* function, size_t nbytes, size_t align, bool zero,
                                Updates updates) noexcept {
  if (!device_) return allocate_host(function, nbytes, align, zero);
  if (nbytes == 0) return nullptr;  // and no barrier, says the standard
  void* object = nullptr;
  try {
    object = place_on_device(nbytes, align, zero, updates);
  } catch (const std::exception& e) {
    die("%s: %s", function, e.what());
  }
  if (!object)
    say_full(text("%s: %s (%zu bytes) do not fit: %s of the device heap, which may grow to %s, are in use; raise "
                  "SHMEM_DEVICE_HEAP_MAX, or see with SHMEM_DEBUG=info what a GPU has left",
                  function, memory_size(nbytes).c_str(), nbytes, memory_size(device_->used()).c_str(),
                  memory_size(device_->limit()).c_str()),
             state_.me == 0);
  barrier(function);
  return object;
}

void* SymmetricMemory::allocate_host(const char* function, size_t nbytes, size_t align, bool zero) noexcept {
  if (nbytes == 0) return nullptr;
  void* object = nullptr;
  try {
    object = heap_.allocate(nbytes, align);
    if (!object) say_host_full(function, nbytes);
  } catch (const NoMemory& lack) {
    say_full(text("%s: %s", function, lack.what()), lack.here);
  }
  if (object && zero) std::memset(object, 0, nbytes);
  barrier(function);
  return object;
}

size_t SymmetricMemory::size_of(const void* object) const noexcept {
  return device_ && device_->contains(object) ? device_->size_of(object) : heap_.size_of(object);
}

std::string SymmetricMemory::why_no_block(const void* object) const {
  if (!object || size_of(object) != 0) return {};
  const bool on_device = device_ && device_->contains(object);
  const auto* base = static_cast<const char*>(static_cast<const void*>(on_device ? device_->base() : heap_.base()));
  if (const auto block = on_device ? device_->find(object) : heap_.find(object)) {
    const size_t inside = static_cast<size_t>(static_cast<const char*>(object) - base) - block->offset;
    return text("%p is %zu bytes inside the block at %p, which has %zu bytes; pass %p", object, inside,
                base + block->offset, block->nbytes, base + block->offset);
  }
  if (on_device || heap_.contains(object))
    return text("no block of the symmetric heap is at %p; it was freed already, or it was never allocated", object);
  return text("%p was not returned by a symmetric allocation call; the symmetric heap is [%p, %p)", object,
              static_cast<void*>(heap_.base()), static_cast<void*>(heap_.base() + heap_.nbytes()));
}

void SymmetricMemory::refuse(const char* function, const void* object, const char* outcome) const {
  log_error("%s: %s. the call changes nothing%s; SHMEM_CHECK=1 ends the job here", function,
            why_no_block(object).c_str(), outcome);
}

/// Within the heap that the object is in.
void* SymmetricMemory::resize(const char* function, void* object, size_t nbytes) {
  if (!device_ || !device_->contains(object)) return heap_.resize(object, nbytes);
  const size_t had = device_->size_of(object);
  if (device_->try_resize(object, nbytes)) return object;
  void* const moved = device_->allocate(nbytes, OffsetAllocator::kGranule, device_->updates_of(object));
  if (!moved) return nullptr;
  device_->copies().copy(moved, object, std::min(had, nbytes));
  if (!device_->release(object)) die("%s: the device heap has lost the object at %p", function, object);
  return moved;
}

void* SymmetricMemory::reallocate(const char* function, void* object, size_t nbytes) noexcept {
  if (!object) return allocate(function, nbytes, OffsetAllocator::kGranule, false);
  if (nbytes == 0) {
    release(function, object);
    return nullptr;
  }
  barrier(function);  // nobody writes to the object any more while it may move
  if (size_of(object) == 0) {
    // Undefined today; up to OpenSHMEM 1.3 the answer was NULL, and programs test for it.
    refuse(function, object, " and returns NULL");
    barrier(function);
    return nullptr;
  }
  void* moved = nullptr;
  try {
    moved = resize(function, object, nbytes);
    if (!moved && !(device_ && device_->contains(object))) say_host_full(function, nbytes);
  } catch (const NoMemory& lack) {
    say_full(text("%s: %s", function, lack.what()), lack.here);
  } catch (const std::exception& e) {
    die("%s: %s", function, e.what());
  }
  barrier(function);
  return moved;
}

void SymmetricMemory::release(const char* function, void* object) noexcept {
  if (!object) return;
  barrier(function);
  const bool known = device_ && device_->contains(object) ? device_->release(object) : heap_.release(object);
  if (!known) refuse(function, object, "");
}

}  // namespace railshmem

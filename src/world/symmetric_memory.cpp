// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/symmetric_memory.h"

#include <cstring>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/collective/sync.h"
#include "src/rma/ordering.h"

namespace railshmem {

SymmetricMemory::SymmetricMemory(Team& world, Heap& heap) noexcept : world_(world), state_(world.state), heap_(heap) {}

void SymmetricMemory::barrier(const char* function) noexcept {
  quiet(state_, state_.default_context);
  sync(world_, function);
}

void* SymmetricMemory::allocate(const char* function, size_t nbytes, size_t align, bool zero) noexcept {
  if (nbytes == 0) return nullptr;  // and no barrier, says the standard
  void* object = nullptr;
  try {
    object = heap_.allocate(nbytes, align);
  } catch (const Error& e) {
    die("%s: %s", function, e.what());
  }
  if (object && zero) std::memset(object, 0, nbytes);
  if (!object)
    log_info("%s: %zu bytes do not fit: %zu of %zu bytes of the symmetric heap are in use; raise SHMEM_SYMMETRIC_SIZE",
             function, nbytes, heap_.offsets().bytes_used(), heap_.nbytes());
  barrier(function);
  return object;
}

void* SymmetricMemory::reallocate(const char* function, void* object, size_t nbytes) noexcept {
  if (!object) return allocate(function, nbytes, OffsetAllocator::kGranule, false);
  if (nbytes == 0) {
    release(function, object);
    return nullptr;
  }
  barrier(function);  // nobody writes to the object any more while it may move
  if (heap_.size_of(object) == 0) {
    // Undefined today; up to OpenSHMEM 1.3 the answer was NULL, and programs test for it.
    log_error("%s: %p was not returned by a symmetric allocation call, or was freed already", function, object);
    return nullptr;
  }
  void* moved = nullptr;
  try {
    moved = heap_.resize(object, nbytes);
  } catch (const Error& e) {
    die("%s: %s", function, e.what());
  }
  barrier(function);
  return moved;
}

void SymmetricMemory::release(const char* function, void* object) noexcept {
  if (!object) return;
  barrier(function);
  if (!heap_.release(object))
    die("%s: %p was not returned by a symmetric allocation call, or was freed already", function, object);
}

}  // namespace railshmem

// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/symmetric_memory.h"

#include <cstring>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/collective/control_block.h"
#include "src/collective/sync.h"
#include "src/rma/ordering.h"
#include "src/rma/put_get.h"

namespace railshmem {

SymmetricMemory::SymmetricMemory(Team& world, Heap& heap, bool compare_requests) noexcept
    : world_(world), state_(world.state), heap_(heap), compare_requests_(compare_requests) {}

void SymmetricMemory::barrier(const char* function) noexcept {
  quiet(state_, state_.default_context);
  sync(world_, function);
}

uint64_t SymmetricMemory::offset_or_none(const void* object) const noexcept {
  return object && heap_.contains(object) ? heap_.offset_of(object) : UINT64_MAX;
}

/// Each PE leaves its arguments in its control block, meets the others, and reads PE 0's.
void SymmetricMemory::compare(const char* function, uint64_t nbytes, uint64_t align, uint64_t offset) noexcept {
  if (!compare_requests_) return;
  uint64_t* mine = reinterpret_cast<ControlBlock*>(heap_.base())->request;
  mine[0] = nbytes;
  mine[1] = align;
  mine[2] = offset;
  barrier(function);
  uint64_t theirs[3];
  get(state_, state_.default_context, function, theirs, mine, sizeof theirs, 0);
  if (theirs[0] != nbytes || theirs[1] != align || theirs[2] != offset)
    die("%s: arguments differ between PEs: PE %d asked for %llu bytes (alignment %llu, object at offset %llu), PE 0 "
        "for "
        "%llu bytes (alignment %llu, offset %llu); all PEs must make the same call",
        function, state_.me, static_cast<unsigned long long>(nbytes), static_cast<unsigned long long>(align),
        static_cast<unsigned long long>(offset), static_cast<unsigned long long>(theirs[0]),
        static_cast<unsigned long long>(theirs[1]), static_cast<unsigned long long>(theirs[2]));
  barrier(function);  // nobody overwrites its arguments before all have read them
}

void* SymmetricMemory::allocate(const char* function, size_t nbytes, size_t align, bool zero) noexcept {
  compare(function, nbytes, align, UINT64_MAX);
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
  compare(function, nbytes, 0, offset_or_none(object));
  barrier(function);  // nobody writes to the object any more while it may move
  if (heap_.size_of(object) == 0)
    die("%s: %p was not returned by a symmetric allocation call, or was freed already", function, object);
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
  compare(function, 0, 0, offset_or_none(object));
  if (!object) return;
  barrier(function);
  if (!heap_.release(object))
    die("%s: %p was not returned by a symmetric allocation call, or was freed already", function, object);
}

}  // namespace railshmem

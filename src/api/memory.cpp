// SPDX-License-Identifier: BSD-3-Clause
// The symmetric heap: every name of include/shmem/memory.h and the old shmalloc family.
#include "src/api/alias.h"
#include "src/api/job.h"
#include "src/base/align.h"
#include "src/rma/put_get.h"

using namespace railshmem;

namespace {

constexpr size_t kAlign = OffsetAllocator::kGranule;

void* allocate(const char* function, size_t nbytes, size_t align, bool zero) noexcept {
  return job::world(function).memory().allocate(function, nbytes, align, zero);
}

void* allocate_aligned(const char* function, size_t align, size_t nbytes) noexcept {
  World& world = job::world(function);
  if (!is_power_of_two(align)) return nullptr;  // the same on every PE, so no barrier is due
  return world.memory().allocate(function, nbytes, align < kAlign ? kAlign : align, false);
}

}  // namespace

extern "C" {

void* pshmem_malloc(size_t size) {
  return allocate("shmem_malloc", size, kAlign, false);
}

void* pshmem_calloc(size_t count, size_t size) {
  World& world = job::world("shmem_calloc");
  size_t nbytes = 0;
  if (__builtin_mul_overflow(count, size, &nbytes)) return nullptr;
  return world.memory().allocate("shmem_calloc", nbytes, kAlign, true);
}

void* pshmem_align(size_t alignment, size_t size) {
  return allocate_aligned("shmem_align", alignment, size);
}

/// Hints say how the memory will be used; every kind of use is served by the one heap.
void* pshmem_malloc_with_hints(size_t size, long) {
  return allocate("shmem_malloc_with_hints", size, kAlign, false);
}

void* pshmem_realloc(void* ptr, size_t size) {
  return job::world("shmem_realloc").memory().reallocate("shmem_realloc", ptr, size);
}

void pshmem_free(void* ptr) {
  job::world("shmem_free").memory().release("shmem_free", ptr);
}

void* pshmalloc(size_t size) {
  return allocate("shmalloc", size, kAlign, false);
}
void pshfree(void* ptr) {
  job::world("shfree").memory().release("shfree", ptr);
}
void* pshrealloc(void* ptr, size_t size) {
  return job::world("shrealloc").memory().reallocate("shrealloc", ptr, size);
}
void* pshmemalign(size_t alignment, size_t size) {
  return allocate_aligned("shmemalign", alignment, size);
}
}
RAILSHMEM_MEMORY_FUNCTIONS(RAILSHMEM_WEAK)
extern "C" {
RAILSHMEM_API void* shmalloc(size_t size) __attribute__((weak, alias("pshmalloc")));
RAILSHMEM_API void shfree(void* ptr) __attribute__((weak, alias("pshfree")));
RAILSHMEM_API void* shrealloc(void* ptr, size_t size) __attribute__((weak, alias("pshrealloc")));
RAILSHMEM_API void* shmemalign(size_t alignment, size_t size) __attribute__((weak, alias("pshmemalign")));
}

// SPDX-License-Identifier: BSD-3-Clause
// The symmetric heap: every name of include/shmem/memory.h and the old shmalloc family.
#include "shmemx.h"
#include "src/api/entry.h"
#include "src/api/job.h"
#include "src/base/align.h"
#include "src/base/guard.h"
#include "src/base/log.h"
#include "src/check/call_site.h"
#include "src/check/collective.h"
#include "src/rma/probe.h"
#include "src/rma/put_get.h"

using namespace railshmem;

namespace {

constexpr size_t kAlign = OffsetAllocator::kGranule;

void* allocate_aligned(World& world, const char* function, size_t align, size_t nbytes) noexcept {
  if (!is_power_of_two(align)) return nullptr;  // all PEs pass one align and return here, so no barrier is due
  return world.memory().allocate(function, nbytes, align < kAlign ? kAlign : align, false);
}

/// SHMEM_CHECK: all PEs must make this call with equal arguments, and `object` must be a block.
void agree(World& world, const char* name, const void* object, size_t size, size_t align, long hints = 0) noexcept {
  if (!checking(world.state()) || (!object && size == 0)) return;  // no barrier then, so one PE may call alone
  check::CollectiveCall call(world.state(), name);
  if (object) call.address("ptr", object);
  call.number("size", static_cast<long long>(size));
  if (align != kAlign) call.number("alignment", static_cast<long long>(align));
  if (hints != 0) call.number("hints", hints);
  check::must_agree(world.teams().world(), call);
  if (const std::string why = world.memory().why_no_block(object); !why.empty())
    die("%s: %s; called at %s", name, why.c_str(), check::find_call_site().data());
}

/// The updates that the hints declare. The standard's own hints change nothing, because every allocation fulfils them.
Updates updates_of(const char* function, long hints) noexcept {
  constexpr long kDirect = SHMEMX_MALLOC_NODE_ONLY | SHMEMX_MALLOC_SET_ONLY;
  if ((hints & kDirect) == 0) return Updates::any;
  if ((hints & SHMEMX_MALLOC_OUTSIDE_ONLY) == 0) return Updates::node_only;
  log_warn(
      "%s: hints 0x%lx say that the memory is updated from outside the node only, and that it is not; neither counts",
      function, static_cast<unsigned long>(hints));
  return Updates::any;
}

}  // namespace

/// Opens a function body: `world` and `name` of an allocation call.
#define ENTER(NAME, NBYTES)            \
  static constexpr char name[] = NAME; \
  World& world = job::world(name);     \
  PeState& state = world.state();      \
  RAILSHMEM_PROBE_PLAIN(allocation, name, NBYTES)

extern "C" {

void* pshmem_malloc(size_t size) {
  ENTER("shmem_malloc", size);
  agree(world, name, nullptr, size, kAlign);
  return world.memory().allocate(name, size, kAlign, false);
}

void* pshmem_calloc(size_t count, size_t size) {
  size_t nbytes = 0;
  const bool overflows = __builtin_mul_overflow(count, size, &nbytes);
  ENTER("shmem_calloc", nbytes);
  agree(world, name, nullptr, nbytes, kAlign);
  return overflows ? nullptr : world.memory().allocate(name, nbytes, kAlign, true);
}

void* pshmem_align(size_t alignment, size_t size) {
  ENTER("shmem_align", size);
  agree(world, name, nullptr, size, alignment);
  return allocate_aligned(world, name, alignment, size);
}

void* pshmem_malloc_with_hints(size_t size, long hints) {
  ENTER("shmem_malloc_with_hints", size);
  agree(world, name, nullptr, size, kAlign, hints);
  return world.memory().allocate(name, size, kAlign, false, updates_of(name, hints));
}

void* pshmem_realloc(void* ptr, size_t size) {
  ENTER("shmem_realloc", size);
  agree(world, name, ptr, size, kAlign);
  return world.memory().reallocate(name, ptr, size);
}

void pshmem_free(void* ptr) {
  ENTER("shmem_free", 0);
  agree(world, name, ptr, 0, kAlign);
  world.memory().release(name, ptr);
}

void* shmemx_malloc_host(size_t size) {
  ENTER("shmemx_malloc_host", size);
  agree(world, name, nullptr, size, kAlign);
  return world.memory().allocate_host(name, size, kAlign, false);
}

int shmemx_attach_device(void) {
  World& world = job::world("shmemx_attach_device");
  return guard("shmemx_attach_device", [&] { world.attach_gpu(); });
}

void* pshmalloc(size_t size) {
  ENTER("shmalloc", size);
  agree(world, name, nullptr, size, kAlign);
  return world.memory().allocate(name, size, kAlign, false);
}
void pshfree(void* ptr) {
  ENTER("shfree", 0);
  agree(world, name, ptr, 0, kAlign);
  world.memory().release(name, ptr);
}
void* pshrealloc(void* ptr, size_t size) {
  ENTER("shrealloc", size);
  agree(world, name, ptr, size, kAlign);
  return world.memory().reallocate(name, ptr, size);
}
void* pshmemalign(size_t alignment, size_t size) {
  ENTER("shmemalign", size);
  agree(world, name, nullptr, size, alignment);
  return allocate_aligned(world, name, alignment, size);
}
}
extern "C" {
RAILSHMEM_API void* shmalloc(size_t size) __attribute__((weak, alias("pshmalloc")));
RAILSHMEM_API void shfree(void* ptr) __attribute__((weak, alias("pshfree")));
RAILSHMEM_API void* shrealloc(void* ptr, size_t size) __attribute__((weak, alias("pshrealloc")));
RAILSHMEM_API void* shmemalign(size_t alignment, size_t size) __attribute__((weak, alias("pshmemalign")));
}

RAILSHMEM_ALIAS(malloc);
RAILSHMEM_ALIAS(calloc);
RAILSHMEM_ALIAS(align);
RAILSHMEM_ALIAS(malloc_with_hints);
RAILSHMEM_ALIAS(realloc);
RAILSHMEM_ALIAS(free);

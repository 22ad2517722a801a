// SPDX-License-Identifier: BSD-3-Clause
//
// A long random sequence of heap calls, in which all PEs agree. Blocks never overlap and keep their contents. An
// address names one block on all PEs, which gets from the neighbour's copy show.
#include "check.h"
#include "shmemx.h"

enum { kSlots = 64, kLargest = 60000 };

typedef struct {
  unsigned char* at;
  size_t size;
  unsigned seed;  // of this PE's pattern
} Block;

static int me, npes, right;
static Block blocks[kSlots];
static uint64_t state = 88172645463325252u;  // equal on all PEs: calls must agree

static unsigned random_below(unsigned n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)(state >> 33) % n;
}

static size_t random_size(void) {
  return random_below(4) ? 1 + random_below(600) : 1 + random_below(kLargest);
}

static void check_block(const Block* block) {
  CHECK_PATTERN(block->at, block->size, block->seed + (unsigned)me);
}

/// Reads the neighbour's copy of one block: same place, its pattern.
static void check_remote(const Block* block) {
  static unsigned char copy[kLargest];
  shmem_getmem(copy, block->at, block->size, right);
  CHECK_PATTERN(copy, block->size, block->seed + (unsigned)right);
}

static void check_overlaps(const Block* fresh) {
  for (int i = 0; i < kSlots; ++i) {
    const Block* other = &blocks[i];
    if (other == fresh || !other->at) continue;
    CHECK(fresh->at + fresh->size <= other->at || other->at + other->size <= fresh->at,
          "[%p, +%zu) overlaps [%p, +%zu)", (void*)fresh->at, fresh->size, (void*)other->at, other->size);
  }
}

static void allocate(Block* block) {
  block->size = random_size();
  const unsigned how = random_below(5);
  const size_t alignment = (size_t)8 << random_below(10);
  if (how == 0) block->at = shmem_calloc(1, block->size);
  if (how == 1) block->at = shmem_align(alignment, block->size);
  if (how == 2) block->at = shmem_malloc_with_hints(block->size, SHMEM_MALLOC_SIGNAL_REMOTE);
  if (how == 4) block->at = shmem_malloc_with_hints(block->size, SHMEMX_MALLOC_NODE_ONLY);
  if (how == 3) block->at = shmem_malloc(block->size);
  CHECK(block->at != NULL, "%zu bytes by way %u", block->size, how);
  if (how == 0) CHECK_BYTES(block->at, block->size, 0);
  if (how == 1) CHECK((uintptr_t)block->at % alignment == 0, "%p, alignment %zu", (void*)block->at, alignment);
}

static void reallocate(Block* block) {
  const size_t size = random_size();
  const size_t kept = size < block->size ? size : block->size;
  block->at = shmem_realloc(block->at, size);
  CHECK(block->at != NULL, "realloc from %zu to %zu bytes", block->size, size);
  CHECK_PATTERN(block->at, kept, block->seed + (unsigned)me);
  block->size = size;
}

int main(void) {
  check_begin("heap_random");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  const int steps = check_quick() ? 300 : 3000;
  for (int step = 0; step < steps; ++step) {
    Block* block = &blocks[random_below(kSlots)];
    check_step("step %d, block %d", step, (int)(block - blocks));
    const unsigned action = random_below(3);
    if (block->at) check_block(block);
    if (block->at && action == 0) {
      shmem_free(block->at);
      block->at = NULL;
      continue;
    }
    if (block->at && action == 1) {
      check_remote(block);
      continue;
    }
    if (block->at)
      reallocate(block);
    else
      allocate(block);
    check_overlaps(block);
    block->seed = (unsigned)step;
    check_fill(block->at, block->size, block->seed + (unsigned)me);
    shmem_barrier_all();  // neighbours may read it from now on
  }
  check_step("the end");
  for (int i = 0; i < kSlots; ++i) {
    if (!blocks[i].at) continue;
    check_block(&blocks[i]);
    check_remote(&blocks[i]);
    shmem_free(blocks[i].at);
  }
  return check_end();
}

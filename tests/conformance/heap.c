// SPDX-License-Identifier: BSD-3-Clause
//
// The symmetric heap, call by call: contents, alignment, nothing for nothing, and exhaustion that leaves it usable.
#include <stddef.h>

#include "check.h"
#include "shmemx.h"

static int me, npes, right, left;

/// A block is symmetric, writable to its last byte, and reached by put.
static void test_block(unsigned char* block, size_t n, size_t alignment) {
  CHECK(block != NULL, "no block of %zu bytes", n);
  CHECK((uintptr_t)block % alignment == 0, "%p is not aligned to %zu", (void*)block, alignment);
  CHECK_EQ(shmem_addr_accessible(block, right), 1);
  CHECK_EQ(shmem_addr_accessible(block + n - 1, right), 1);
  memset(block, me, n);
  shmem_barrier_all();
  const unsigned char ends[2] = {(unsigned char)(left + 100), 0};
  const unsigned char mine[2] = {(unsigned char)(me + 100), 0};
  shmem_putmem(block, mine, 1, right);
  shmem_putmem(block + n - 1, mine, 1, right);
  shmem_barrier_all();
  CHECK_EQ(block[0], ends[0]);
  CHECK_EQ(block[n - 1], ends[0]);
}

static void test_alignment(void) {
  for (size_t n = 1; n <= 5000; n = n * 3 + 1) {
    check_step("malloc of %zu bytes", n);
    unsigned char* block = shmem_malloc(n);
    test_block(block, n, _Alignof(max_align_t));
    shmem_free(block);
  }
  for (size_t alignment = 1; alignment <= (size_t)16 << 20; alignment *= 2) {
    check_step("align to %zu", alignment);
    unsigned char* block = shmem_align(alignment, 100);
    unsigned char* next = shmem_align(alignment, 1);
    test_block(block, 100, alignment);
    test_block(next, 1, alignment);
    shmem_free(next);
    shmem_free(block);
  }
  check_step("align to no power of two");
  CHECK(shmem_align(24, 100) == NULL, "alignment %d was accepted", 24);
  CHECK(shmem_align(0, 100) == NULL, "alignment %d was accepted", 0);
}

static void test_hints(void) {
  const long hints[] = {0, SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE,
                        SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE, SHMEMX_MALLOC_OUTSIDE_ONLY};
  for (size_t i = 0; i < sizeof hints / sizeof *hints; ++i) {
    check_step("hints %ld", hints[i]);
    uint64_t* block = shmem_malloc_with_hints(4096, hints[i]);
    test_block((unsigned char*)block, 4096, _Alignof(max_align_t));
    *block = 0;
    shmem_barrier_all();
    shmem_uint64_atomic_inc(block, right);
    shmem_signal_wait_until(block, SHMEM_CMP_EQ, 1);
    uint64_t* larger = shmem_realloc(block, 100000);
    CHECK(larger != NULL && *larger == 1, "realloc of a block with hints gave %p", (void*)larger);
    shmem_free(larger);
  }
}

static void test_calloc(void) {
  for (int round = 0; round < 3; ++round) {
    check_step("calloc, round %d", round);
    unsigned char* dirty = check_alloc(300000);
    memset(dirty, 0xff, 300000);
    shmem_free(dirty);
    unsigned char* block = shmem_calloc(1000, 300);  // most likely the memory that was just freed
    CHECK(block != NULL, "calloc gave NULL in round %d", round);
    // Zero everywhere before anyone returns: a put that follows at once must not be wiped out.
    shmem_putmem(block, "x", 1, right);
    shmem_barrier_all();
    CHECK_EQ(block[0], 'x');
    CHECK_BYTES(block + 1, 299999, 0);
    shmem_free(block);
  }
  check_step("calloc of too many");
  CHECK(shmem_calloc(SIZE_MAX / 2, 4) == NULL, "a product beyond %zu was accepted", SIZE_MAX);
}

static void test_nothing(void) {
  check_step("blocks of nothing");
  CHECK(shmem_malloc(0) == NULL, "size %d gave a block", 0);
  CHECK(shmem_calloc(0, 8) == NULL && shmem_calloc(8, 0) == NULL, "size %d gave a block", 0);
  CHECK(shmem_align(64, 0) == NULL, "size %d gave a block", 0);
  CHECK(shmem_malloc_with_hints(0, SHMEM_MALLOC_ATOMICS_REMOTE) == NULL, "size %d gave a block", 0);
  CHECK(shmem_realloc(NULL, 0) == NULL, "size %d gave a block", 0);
  shmem_free(NULL);
  // No barrier either: PEs may differ in how often they ask for nothing.
  for (int i = 0; i < me * 3; ++i) {
    shmem_free(NULL);
    CHECK(shmem_malloc(0) == NULL, "size %d gave a block", 0);
  }
  shmem_barrier_all();
}

static void test_realloc(void) {
  check_step("realloc");
  unsigned char* block = shmem_realloc(NULL, 1000);
  test_block(block, 1000, _Alignof(max_align_t));
  check_fill(block, 1000, (unsigned)me);
  const size_t sizes[] = {1001, 5000, 200000, 200000, 300, 17, 1 << 20, 1};
  size_t kept = 1000;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    check_step("realloc to %zu bytes", sizes[i]);
    unsigned char* fence = check_alloc(64);  // keeps the block from growing in place every time
    block = shmem_realloc(block, sizes[i]);
    CHECK(block != NULL, "realloc to %zu gave NULL", sizes[i]);
    if (sizes[i] < kept) kept = sizes[i];
    CHECK_PATTERN(block, kept, (unsigned)me);
    memset(block + kept, 1, sizes[i] - kept);
    shmem_free(fence);
  }
  CHECK(shmem_realloc(block, 0) == NULL, "size %d gave a block", 0);
  CHECK(shmem_realloc(block, 10) == NULL, "a freed block was resized to %d bytes", 10);  // with a message
}

/// Memory runs out in one call on all PEs; they keep what they have, and go on after freeing.
static void test_exhaustion(void) {
  enum { kBlock = 1 << 20, kMost = 4096 };
  static unsigned char* blocks[kMost];
  check_step("more than there is");
  CHECK(shmem_malloc(SIZE_MAX) == NULL, "a block of %zu", SIZE_MAX);
  CHECK(shmem_malloc(SIZE_MAX / 2) == NULL, "a block of %zu", SIZE_MAX / 2);
  CHECK(shmem_align(4096, SIZE_MAX - 100) == NULL, "a block of %zu", SIZE_MAX - 100);
  int counts[2] = {0, 0};
  for (int round = 0; round < 2; ++round) {
    check_step("exhaustion, round %d", round);
    int n = 0;
    for (; n < kMost && (blocks[n] = shmem_malloc(kBlock)) != NULL; ++n) blocks[n][0] = (unsigned char)n;
    CHECK(n > 0 && n < kMost, "%d blocks of 1 MiB before NULL; set SHMEM_SYMMETRIC_SIZE below 4G", n);
    counts[round] = n;
    unsigned char* grown = shmem_realloc(blocks[0], (size_t)kBlock * (size_t)(n + 1));
    CHECK(grown == NULL, "realloc beyond the heap gave %p", (void*)grown);
    for (int i = 0; i < n; ++i) CHECK_EQ(blocks[i][0], (unsigned char)i);  // also the one whose realloc failed
    for (int i = 0; i < n; i += 2) shmem_free(blocks[i]);
    for (int i = 1; i < n; i += 2) shmem_free(blocks[i]);
  }
  CHECK_EQ(counts[1], counts[0]);  // everything came back, in one piece:
  check_step("the whole heap again");
  unsigned char* all = shmem_malloc((size_t)kBlock * (size_t)counts[0]);
  test_block(all, (size_t)kBlock * (size_t)counts[0], _Alignof(max_align_t));
  shmem_free(all);
}

int main(void) {
  check_begin("heap");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  test_alignment();
  test_hints();
  test_calloc();
  test_nothing();
  test_realloc();
  test_exhaustion();
  return check_end();
}

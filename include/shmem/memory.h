// SPDX-License-Identifier: BSD-3-Clause
//
// The symmetric heap.
#ifndef RAILSHMEM_SHMEM_MEMORY_H
#define RAILSHMEM_SHMEM_MEMORY_H

#include "shmem/api.h"
#include "shmem/types.h"

// clang-format off

/// Allocates and frees symmetric memory; sizes in bytes (OpenSHMEM 1.6, 9.3).
///
/// All are collective over the world; all PEs make these calls in one order and with equal arguments. Allocation ends
/// with a barrier and free begins with a barrier; these barriers complete only what was issued on the default context.
/// Size 0 gives NULL and no barrier. When memory runs out every PE gets NULL and realloc leaves the old block alone.
/// Blocks are aligned for any type; align takes a power of two and gives NULL for anything else. calloc's zeroes are in
/// place on every PE before any PE returns. hints is an or of two kinds of constants. The standard's SHMEM_MALLOC_
/// constants change nothing: every block has what they ask for. Those of shmemx.h promise how atomics and signals
/// update the block when it is memory of a GPU: SHMEMX_MALLOC_NODE_ONLY, SHMEMX_MALLOC_OUTSIDE_ONLY,
/// SHMEMX_MALLOC_SET_ONLY.
#define RAILSHMEM_MEMORY_FUNCTIONS(F)            \
  F(void*, malloc, size_t size)                  \
  F(void, free, void* ptr)                       \
  F(void*, realloc, void* ptr, size_t size)      \
  F(void*, align, size_t alignment, size_t size) \
  F(void*, calloc, size_t count, size_t size)    \
  F(void*, malloc_with_hints, size_t size, long hints)

// clang-format on

RAILSHMEM_BEGIN_C
RAILSHMEM_MEMORY_FUNCTIONS(RAILSHMEM_DECLARE)
RAILSHMEM_END_C

#endif

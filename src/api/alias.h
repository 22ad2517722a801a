// SPDX-License-Identifier: BSD-3-Clause
// Profiling interface (OpenSHMEM 1.6 section 10): the library defines pshmem_X; shmem_X is a weak alias of it, so a
// tool may define its own shmem_X. The aliases of a family stand in the file of its definitions.
#pragma once

#include "pshmem.h"
#include "shmem/lists.h"

#define RAILSHMEM_WEAK(RESULT, NAME, ...) \
  extern "C" RAILSHMEM_API RESULT shmem_##NAME(__VA_ARGS__) __attribute__((weak, alias("pshmem_" #NAME)));
#define RAILSHMEM_WEAK_PLAIN(RESULT, NAME, ...) \
  extern "C" RAILSHMEM_API RESULT NAME(__VA_ARGS__) __attribute__((weak, alias("p" #NAME)));

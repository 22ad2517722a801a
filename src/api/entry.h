// SPDX-License-Identifier: BSD-3-Clause
// What the entry points of the library share (src/api/entries, written by scripts/gen_api.py).
#pragma once

#include "pshmem.h"
#include "src/rma/entry.h"

/// shmem_NAME as a weak alias of pshmem_NAME (OpenSHMEM 1.6 section 10): a tool may define its own shmem_NAME. Beside
/// the definition, as compilers demand. RAILSHMEM_ALIAS_PLAIN: of a name without shmem_.
#define RAILSHMEM_ALIAS(NAME) \
  extern "C" RAILSHMEM_API decltype(pshmem_##NAME) shmem_##NAME __attribute__((weak, alias("pshmem_" #NAME)))
#define RAILSHMEM_ALIAS_PLAIN(NAME) \
  extern "C" RAILSHMEM_API decltype(p##NAME) NAME __attribute__((weak, alias("p" #NAME)))

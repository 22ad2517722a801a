// SPDX-License-Identifier: BSD-3-Clause
//
// C11 spellings of the old atomic names.
#ifndef RAILSHMEM_SHMEM_GENERIC_DEPRECATED_H
#define RAILSHMEM_SHMEM_GENERIC_DEPRECATED_H

#include "shmem/generic/select.h"

/// Old standard set; no contexts.
#define shmem_cswap(...) RAILSHMEM_SELECT(RAILSHMEM_OLD_AMO_TYPES, RAILSHMEM_PICK, _cswap, __VA_ARGS__)
#define shmem_finc(...) RAILSHMEM_SELECT(RAILSHMEM_OLD_AMO_TYPES, RAILSHMEM_PICK, _finc, __VA_ARGS__)
#define shmem_inc(...) RAILSHMEM_SELECT(RAILSHMEM_OLD_AMO_TYPES, RAILSHMEM_PICK, _inc, __VA_ARGS__)
#define shmem_fadd(...) RAILSHMEM_SELECT(RAILSHMEM_OLD_AMO_TYPES, RAILSHMEM_PICK, _fadd, __VA_ARGS__)
#define shmem_add(...) RAILSHMEM_SELECT(RAILSHMEM_OLD_AMO_TYPES, RAILSHMEM_PICK, _add, __VA_ARGS__)

/// Old extended set; no contexts.
#define shmem_fetch(...) RAILSHMEM_SELECT(RAILSHMEM_OLD_AMO_EXTENDED_TYPES, RAILSHMEM_PICK_READ, _fetch, __VA_ARGS__)
#define shmem_set(...) RAILSHMEM_SELECT(RAILSHMEM_OLD_AMO_EXTENDED_TYPES, RAILSHMEM_PICK, _set, __VA_ARGS__)
#define shmem_swap(...) RAILSHMEM_SELECT(RAILSHMEM_OLD_AMO_EXTENDED_TYPES, RAILSHMEM_PICK, _swap, __VA_ARGS__)

#endif

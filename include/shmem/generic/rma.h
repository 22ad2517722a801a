// SPDX-License-Identifier: BSD-3-Clause
//
// C11 names of remote memory access.
#ifndef RAILSHMEM_SHMEM_GENERIC_RMA_H
#define RAILSHMEM_SHMEM_GENERIC_RMA_H

#include "shmem/generic/select.h"

/// Contiguous blocks, without and with a context.
#define shmem_put(...) RAILSHMEM_SELECT_CTX(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _put, __VA_ARGS__)
#define shmem_put_nbi(...) RAILSHMEM_SELECT_CTX(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _put_nbi, __VA_ARGS__)
#define shmem_get(...) RAILSHMEM_SELECT_CTX(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _get, __VA_ARGS__)
#define shmem_get_nbi(...) RAILSHMEM_SELECT_CTX(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _get_nbi, __VA_ARGS__)

/// Single values; the object that g reads may be const.
#define shmem_p(...) RAILSHMEM_SELECT_CTX(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _p, __VA_ARGS__)
#define shmem_g(...) RAILSHMEM_SELECT_CTX(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK_READ, _g, __VA_ARGS__)

/// Strided elements and strided blocks.
#define shmem_iput(...) RAILSHMEM_SELECT_CTX(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _iput, __VA_ARGS__)
#define shmem_iget(...) RAILSHMEM_SELECT_CTX(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _iget, __VA_ARGS__)
#define shmem_ibput(...) RAILSHMEM_SELECT_CTX(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _ibput, __VA_ARGS__)
#define shmem_ibget(...) RAILSHMEM_SELECT_CTX(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _ibget, __VA_ARGS__)

#endif

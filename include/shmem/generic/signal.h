// SPDX-License-Identifier: BSD-3-Clause
//
// C11 names of puts with signal, and signal updates with an optional context.
#ifndef RAILSHMEM_SHMEM_GENERIC_SIGNAL_H
#define RAILSHMEM_SHMEM_GENERIC_SIGNAL_H

#include "shmem/generic/select.h"

/// Elements and signal.
#define shmem_put_signal(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...) \
  RAILSHMEM_SELECT_CTX(RAILSHMEM_RMA_DISTINCT_TYPES, RAILSHMEM_PICK, _put_signal_nbi, __VA_ARGS__)

/// Signal alone. These generics share their names with the functions for the default context.
// clang-format off
#define RAILSHMEM_SELECT_SIGNAL(PLAIN, WITH_CTX, ...) \
  _Generic(RAILSHMEM_FIRST(__VA_ARGS__, 0), shmem_ctx_t: WITH_CTX, default: PLAIN)(__VA_ARGS__)
// clang-format on
#define shmem_signal_add(...) RAILSHMEM_SELECT_SIGNAL(shmem_signal_add, shmem_ctx_signal_add, __VA_ARGS__)
#define shmem_signal_set(...) RAILSHMEM_SELECT_SIGNAL(shmem_signal_set, shmem_ctx_signal_set, __VA_ARGS__)

#endif

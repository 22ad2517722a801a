// SPDX-License-Identifier: BSD-3-Clause
//
// Names without a type in them: macros in C11, overloads in C++, nothing in C99.
#ifndef RAILSHMEM_SHMEM_GENERIC_GENERIC_H
#define RAILSHMEM_SHMEM_GENERIC_GENERIC_H

#if defined(__cplusplus)
#include "shmem/generic/cpp.h"
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#include "shmem/generic/c11.h"

// These generics share their names with the functions for the default context.
#define shmem_signal_add(...) RAILSHMEM_SELECT_SIGNAL(shmem_signal_add, shmem_ctx_signal_add, __VA_ARGS__)
#define shmem_signal_set(...) RAILSHMEM_SELECT_SIGNAL(shmem_signal_set, shmem_ctx_signal_set, __VA_ARGS__)

/// One argument is a team; four are the old active set, whose function is also called shmem_sync. The number of
/// arguments decides, not their type, because the choices of a _Generic must all be declared.
#define RAILSHMEM_FIFTH(A, B, C, D, E, ...) E
#define shmem_sync(...) \
  RAILSHMEM_FIFTH(__VA_ARGS__, shmem_sync, shmem_sync, shmem_sync, shmem_team_sync, 0)(__VA_ARGS__)
#endif

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// What happens in the order of a stream: NVSHMEM's names, declared as our very functions.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_STREAM_H
#define RAILSHMEM_COMPAT_NVSHMEM_STREAM_H

#include "nvshmem/constants.h"
#include "shmem/stream.h"

#define RAILSHMEM_COMPAT_ON_STREAM(R, NAME, ...) R nvshmemx_##NAME(__VA_ARGS__) __asm__("shmemx_" #NAME);

RAILSHMEM_BEGIN_C
RAILSHMEM_STREAM_FUNCTIONS(RAILSHMEM_COMPAT_ON_STREAM)
RAILSHMEM_END_C

#endif
